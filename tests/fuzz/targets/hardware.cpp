// Figures that were fitted to published runs, and records of probes.
#include "engine/execute/probe.h"
#include "engine/hardware/fitted_figures.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_figures(std::string_view bytes) {
  const auto figures = parse_fitted_figures(bytes, "input.json");
  if (figures) return Answer::taken;
  check_error(figures.error());
  const auto probes = read_probe_results(scratch_file("probes-0.jsonl", bytes));
  if (!probes) return answer_of(probes);
  for (const ProbeMeasurement& measurement : *probes) (void)probe_line(measurement);
  return Answer::taken;
}

}  // namespace shardlab::fuzz
