// Whole text files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab::gui {

// Files above 256 KiB, which no scenario may have, folders, pipes, and what is no UTF-8 or has control
// characters are refused.
Result<std::string> read_text_file(const std::filesystem::path& file);

// A config.json that was handed to the window.

// The smallest scenario around the model: one CPU rank, 1,024 tokens or what the model allows. None when the
// text is no model's configuration.
std::optional<std::string> scenario_around(std::string_view config_text,
                                           const std::filesystem::path& config_file);

}  // namespace shardlab::gui
