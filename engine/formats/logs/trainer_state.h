// trainer_state.json, which transformers' Trainer keeps beside every checkpoint. Private to this folder.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/result.h"
#include "engine/formats/logs/log_collector.h"

namespace shardlab {

// Whether the beginning of a file is that of such a one: JSON with a log_history.
bool begins_trainer_state(std::string_view beginning);

// Hands every entry of the log_history on. bad_input for what is no such file, is damaged or too large.
Status read_trainer_state(const std::filesystem::path& file, LogCollector& log);

}  // namespace shardlab
