// Launches micro-benchmarks on real ranks and brings back what they measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/console.h"
#include "engine/execute/bench_cases.h"
#include "engine/report/bench_report.h"

namespace shardlab {

struct BenchRequest {
  std::string cluster;  // YAML of a scenario's `cluster`
  int seconds = 60;     // no case starts later
  BenchSelection selection;
};

struct BenchResult {
  std::string machine;
  std::map<std::string, std::string> versions;
  std::vector<BenchSample> samples;
};

// Started by torchrun, Slurm or mpirun it is one rank; all but rank 0 return nothing. Errors: bad_input for
// what is no cluster; not_possible without the program of a rank, or on several machines that nothing started
// this process on; run_failed when a rank fails.
Result<std::optional<BenchResult>> run_bench(const BenchRequest& request, Console& console);

}  // namespace shardlab
