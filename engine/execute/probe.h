// Micro-benchmarks of a machine: what to measure, as a job says it (rank_job.h), and what was measured, as
// files of the ranks.
//
// A case names a probe and its shape:
//   OPERATOR.DTYPE                            as the operator's recipe says (model/operators/probe_recipe.h)
//   all_gather, reduce_scatter, all_reduce    bytes (the full side)
//   copy                   bytes (each read once and written once where the rank computes)
//   copy.to_device, copy.from_device          bytes (over the host's link; measured on devices only)
//   pairs                  bytes: every pair of ranks alone, exchanging so much each way; and almost nothing,
//                          for the latency
//   drive:FOLDER           bytes, swapped to a file there and back
//   allocation             bytes
//   contention             bytes (of the collective), rows, inputs, outputs (of the products beside it)
// One case may give several measurements ("linear" gives forward, gradient of the input, gradient of the
// weight); their names and shapes are those of the cost terms (simulator/cost/probe_names.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {

inline constexpr std::string_view k_drive_probe = "drive:";

struct ProbeCase {
  std::string probe;
  ProbeShape shape;
  friend auto operator<=>(const ProbeCase&, const ProbeCase&) = default;
};

struct ProbeMeasurement {
  std::string probe;
  ProbeShape shape;
  std::vector<std::int64_t> samples;  // ns, in the order they were taken
  friend bool operator==(const ProbeMeasurement&, const ProbeMeasurement&) = default;
};

// What the ranks are to measure, and for how long at most: no case starts after `budget_ms`.
struct ProbeList {
  std::int64_t budget_ms = 30'000;
  std::vector<ProbeCase> cases;
  friend bool operator==(const ProbeList&, const ProbeList&) = default;
};

// One JSON value a line. "probes-3.jsonl" in the folder of the run.
std::filesystem::path probe_results_path(const std::filesystem::path& folder, int rank);
std::string probe_line(const ProbeMeasurement& measurement);
// Errors: run_failed for a file that cannot be read, bad_input, with its number, for a line that is no
// measurement.
Result<std::vector<ProbeMeasurement>> read_probe_results(const std::filesystem::path& file);

}  // namespace shardlab
