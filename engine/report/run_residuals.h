// How far predictions were from what was measured, instruction by instruction, over many runs.
//
// A residual is predicted minus measured, of a prediction and a measurement of one plan on one machine. A
// measured instruction's time is the median over steps and ranks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/plan/step_plan.h"
#include "engine/report/terminal.h"
#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// Instructions or operators alike, of a step of every pair.
struct ResidualRow {
  std::string name;
  int runs = 0;                     // pairs that have any
  std::int64_t count = 0;           // of all pairs' steps
  Nanoseconds predicted, measured;  // added up
  double median = 0;                // of the absolute errors predicted / measured - 1, one by one
  double share = 0;                 // of the error of all: absolute residual over the sum of them
  double bias() const;              // of the sums; 0 where nothing was measured

  friend bool operator==(const ResidualRow&, const ResidualRow&) = default;
};

struct ResidualPair {
  RunId predicted, measured;
  std::string name;  // of the scenario
  bool calibrated = false;
  Nanoseconds predicted_step, measured_step;

  double error() const;  // of the predicted step; 0 where nothing was measured

  friend bool operator==(const ResidualPair&, const ResidualPair&) = default;
};

struct Residuals {
  std::vector<ResidualPair> pairs;
  std::vector<ResidualRow> kinds;      // by kind of instruction
  std::vector<ResidualRow> parts;      // "Backward of a layer", "AllGather, 1.13 MiB, 2 ranks"
  std::vector<ResidualRow> operators;  // of runs with measure.detail: operators
};

struct ResidualRun {
  RunId id;
  const RunSummary& summary;
  const RunTrace& trace;
};

class ResidualCollector {
 public:
  // Two runs of one plan, of the scenario of that name. An instruction that one of them did not run counts
  // nothing.
  void add(const std::string& name, const StepPlan& steady, const ResidualRun& predicted,
           const ResidualRun& measured);
  // Rows with the largest residuals first.
  Residuals residuals() const;

 private:
  struct Sum {
    int runs = 0;
    std::int64_t count = 0;
    Nanoseconds predicted, measured;
    std::vector<double> errors;
  };
  using Sums = std::map<std::string, Sum>;

  void add_instructions(const StepPlan& plan, const RunTrace& predicted, const RunTrace& measured);
  void add_operators(const RunSummary& predicted, const RunSummary& measured);
  static void add(Sums& into, const Sums& of_one_pair);
  static std::vector<ResidualRow> rows_of(const Sums& sums);

  std::vector<ResidualPair> pairs_;
  Sums kinds_, parts_, operators_;
};

nlohmann::ordered_json residuals_json(const Residuals& residuals);  // docs/json.md
// The tables, one below the other; of parts and operators the `most` largest.
std::string residual_tables(const Residuals& residuals, std::size_t most, const TextStyle& style);

}  // namespace shardlab
