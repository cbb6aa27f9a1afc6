// The folder that `--record` of an exported program filled, as a measured run of its scenario.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/formats/profiler/import_profile.h"
#include "engine/formats/record/training_record.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// The profiles' plan and traces with what the record knows better: losses, the allocator's peaks, versions
// and the machine. Step times of the traces are the profiler's, which are longer than the record's.
struct ImportedRecord {
  TrainingRecord record;
  ImportedProfile profile;
};

// Whether a path is such a folder, or its record.json.
bool is_training_record(const std::filesystem::path& path);

// `path`: the folder, or its record.json. Errors of read_training_record() and import_profiles(); bad_input
// where the profile of a rank is missing.
Result<ImportedRecord> import_training_record(const std::filesystem::path& path);

// Puts what the record measured without a profiler in the place of what the profiles say: step times, and on
// GPUs the peaks.
void lay_over(const TrainingRecord& record, RunSummary& summary);

}  // namespace shardlab
