// RankJob: everything that a launcher tells its ranks, as one value and one file in the run's folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/words.h"
#include "engine/execute/probe.h"
#include "engine/execute/rank_environment.h"

namespace shardlab {

struct Scenario;

// What a run of training does besides training. The commands' options are written here and read where they
// are obeyed; nothing in between looks at them.
struct TrainingExtras {
  std::filesystem::path save_weights;  // safetensors file for the trained parameters; empty: not saved
  std::filesystem::path save_load;     // JSON file for the load of experts; empty: not saved
  std::filesystem::path
      memory_snapshot;      // file for the allocator's history of the first rank's GPU; empty: none
  bool poison = false;      // fill with NaN what is freed (in host memory) and what is allocated
  std::int64_t jitter = 0;  // the seed of delays before instructions; zero: none

  friend bool operator==(const TrainingExtras&, const TrainingExtras&) = default;
};

enum class JobKind : std::uint8_t {
  train,  // plan, train, write the spool
  probe,  // meet, measure the probes, write their results
};
template <>
inline constexpr auto k_words<JobKind> = std::to_array<Word<JobKind>>({{JobKind::train, "train"},
                                                                       {JobKind::probe, "probe"}});

struct RankJob {
  JobKind kind = JobKind::train;
  std::string version;               // of the program that wrote it
  std::string scenario;              // YAML in normal form; of a probe its cluster and launch sections matter
  std::string directory;             // that the scenario's relative paths start from
  std::string run_hash;              // of the plans that the launcher made; empty for probes
  int threads = 1;                   // of each rank
  EnvironmentVariables environment;  // that the launcher sets for the ranks besides its own
  std::string swap_run;              // what files on a drive are named after; empty where nothing is swapped
  TrainingExtras extras;
  ProbeList probes;

  friend bool operator==(const RankJob&, const RankJob&) = default;
};

// "job.json" in the folder of a run whose ranks one launcher starts; "job-3.json" of rank 3 where each has a
// launcher of its own. Spools and results of probes lie beside it.
std::filesystem::path rank_job_path(const std::filesystem::path& run_directory);
std::filesystem::path rank_job_path(const std::filesystem::path& run_directory, int rank);

// The job as JSON with all its fields. Paths and texts may hold any bytes; bad_input for an environment
// variable that is not UTF-8.
Result<std::string> rank_job_text(const RankJob& job);
// Back again; errors name no file. run_failed for a job of another version of the program, as for ranks that
// plan something else; bad_input unless the text has exactly the fields of a job.
Result<RankJob> parse_rank_job(std::string_view text);

// rank_job_text() in a file, whose folder is made when it does not exist; run_failed when that is impossible.
Status write_rank_job(const std::filesystem::path& file, const RankJob& job);
// parse_rank_job() of a file, which errors name; bad_input when it cannot be read.
Result<RankJob> read_rank_job(const std::filesystem::path& file);

// What the ranks train. Errors of parse_scenario().
Result<Scenario> scenario_of(const RankJob& job);

// The command line of shardlab-rank, which only the launcher writes.
struct RankCommandLine {
  std::filesystem::path job;  // --job
  int parent = 0;             // --parent: process that this one does not outlive; 0: none
};

// bad_input for what is unknown, incomplete or missing.
Result<RankCommandLine> parse_rank_command(int count, const char* const* arguments);

}  // namespace shardlab
