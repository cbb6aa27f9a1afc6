#include "engine/formats/record/import_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/hardware/device_kind.h"
#include "engine/trace/step_time.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

bool on_processors(const TrainingRecord& record) {
  return record.device == to_string(DeviceKind::cpu);
}

Result<std::vector<fs::path>> profiles_in(const fs::path& folder, std::size_t ranks) {
  std::vector<fs::path> files;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    files.push_back(folder / fmt::format("rank{}.trace.json", rank));
    std::error_code error;
    if (!fs::exists(files.back(), error))
      return bad_input(in_file(files.back().string()),
                       "is missing: every rank of a --record keeps its profile",
                       "copy the folders of all nodes into one");
  }
  return files;
}

void add_provenance(const TrainingRecord& record, Provenance& from) {
  from.machine = fmt::format("{} x {}", record.ranks.size(), record.device);
  for (const auto& [name, version] : record.versions) from.versions[name] = version;
  from.leaves_out = {
      "classes of memory", "what waits for what: inferred from where compute stands still",
      "instructions of the measured steps: those of steps under the profiler, which are longer"};
  if (on_processors(record)) from.leaves_out.push_back("the peaks of steps but the last");
}

// Highest of the ranks, where all know it.
std::optional<Bytes> highest(const TrainingRecord& record, std::optional<Bytes> RecordedRank::*figure) {
  std::optional<Bytes> most;
  for (const RecordedRank& rank : record.ranks) {
    if (!(rank.*figure)) return std::nullopt;
    most = std::max(most.value_or(Bytes{}), *(rank.*figure));
  }
  return most;
}

}  // namespace

bool is_training_record(const fs::path& path) {
  std::error_code error;
  return path.filename() == k_record_file || fs::exists(path / k_record_file, error);
}

Result<ImportedRecord> import_training_record(const fs::path& path) {
  const fs::path folder = path.filename() == k_record_file ? path.parent_path() : path;
  SHARDLAB_TRY(TrainingRecord record, read_training_record(folder / k_record_file));
  SHARDLAB_TRY(const std::vector<fs::path> files, profiles_in(folder, record.ranks.size()));
  SHARDLAB_TRY(ImportedProfile profile, import_profiles(files));
  profile.trace.losses = record.losses;
  add_provenance(record, profile.trace.provenance);
  return ImportedRecord{std::move(record), std::move(profile)};
}

void lay_over(const TrainingRecord& record, RunSummary& summary) {
  const std::vector<Nanoseconds> steps = measured_steps(record);
  const auto [shortest, longest] = std::minmax_element(steps.begin(), steps.end());
  summary.step_time = {median(steps), *shortest, *longest, static_cast<int>(steps.size())};
  const auto peak = highest(record, &RecordedRank::peak_allocated);
  if (!peak) return;
  if (!summary.memory) summary.memory.emplace();
  summary.memory->peak_allocated = *peak;
  summary.memory->peak_reserved = highest(record, &RecordedRank::peak_reserved);
}

}  // namespace shardlab
