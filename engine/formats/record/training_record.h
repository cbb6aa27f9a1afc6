// record.json of a training program that shardlab wrote.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

struct RecordedRank {
  int rank = 0;
  std::vector<Nanoseconds> steps;  // every step from the first; the host waited for the device at its end
  std::optional<Bytes> peak_allocated;  // of the measured steps; on processors of the profiled ones
  std::optional<Bytes> peak_reserved;   // absent on processors
};

struct TrainingRecord {
  std::string scenario;  // YAML
  std::string device;    // as CUDA names it; "cpu"
  std::map<std::string, std::string> versions;
  std::size_t warmup = 0;           // steps that are not measured
  std::vector<double> losses;       // of every step, the mean over ranks
  std::vector<RecordedRank> ranks;  // each rank once, in order
};

// The name of the file in the folder.
inline constexpr std::string_view k_record_file = "record.json";

// bad_input for what is not such a file, a later version, ranks that are missing or have other numbers of
// steps, and a warm-up that leaves no step.
Result<TrainingRecord> read_training_record(const std::filesystem::path& file);

// The time of each measured step: the longest of the ranks.
std::vector<Nanoseconds> measured_steps(const TrainingRecord& record);

}  // namespace shardlab
