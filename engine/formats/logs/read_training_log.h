// Logs of training programs: found by what stands in them, and read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "engine/base/result.h"
#include "engine/formats/logs/training_log.h"

namespace shardlab {

// Whether the file has a line of a step as transformers' Trainer, DeepSpeed or torchtitan write it, or is a
// trainer_state.json.
bool is_training_log(const std::filesystem::path& file);

// Whether a file of that name is meant as a log, even if no line of it is one of a step.
bool is_meant_as_log(const std::filesystem::path& file);

// One pass in bounded memory but for one value a step. `samples_per_step`: of all ranks, where somebody knows
// it and the log does not say it; DeepSpeed's samples per second become times by it. bad_input for what
// cannot be read, or has no line of a step.
Result<TrainingLog> read_training_log(const std::filesystem::path& file,
                                      std::optional<std::int64_t> samples_per_step = {});

// Several files of one training: of its ranks, or of its starts one after the other (log_files.h says which).
// A file without a line of a step is no mistake beside others that have some.
Result<TrainingLog> read_training_logs(std::span<const std::filesystem::path> files,
                                       std::optional<std::int64_t> samples_per_step = {});

}  // namespace shardlab
