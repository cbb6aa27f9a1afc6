// What several logs of one training are to each other: files of ranks that wrote at the same time, or of
// starts of the program one after the other. Private to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/logs/training_log.h"

namespace shardlab {

struct LogPart {
  std::filesystem::path file;
  std::optional<int> rank;  // as its path says
  int writer = 0;           // files of one writer follow each other
};

struct LogFiles {
  std::vector<LogPart> in_order;
  std::string read_as;
};

// The rank that a path names: `rank3.log`, `rank_3/`, or torchrun's `attempt_0/3/stdout.log`.
std::optional<int> rank_of_path(const std::filesystem::path& file);

// Ranks where every path names one, or where all files tell the same first step and more than half of each
// other's steps; else starts, by their first steps and then as they are given. `read`: one file of them.
// Errors: files that cannot be read.
using ReadLogFunction = Result<TrainingLog> (*)(const std::filesystem::path& file,
                                                std::optional<std::int64_t> samples_per_step);
Result<LogFiles> log_files(std::span<const std::filesystem::path> files, ReadLogFunction read);

}  // namespace shardlab
