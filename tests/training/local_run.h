// Trains a scenario with its ranks as threads of this process, and hands back what tests compare.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/torch/rank_executor.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab::test {

// Reads and plans a scenario; the test ends here when that fails. `overrides` are key=value.
PlannedScenario planned_file(const std::string& file_below_scenarios,
                             std::span<const std::string> overrides = {});
PlannedScenario planned_text(const std::string& yaml, std::span<const std::string> overrides = {});

// What one rank does after it was set up. Runs in the rank's own thread with one compute thread: no
// assertions in here.
using RankBody = std::function<Status(RankExecutor& executor, int rank)>;

// Makes what a rank works on; empty: the host with its own arithmetic.
using MakeBackend = std::function<std::shared_ptr<ExecutionBackend>()>;

// One executor a rank, all set up, then `body`. `observer` and `ledgers` (one a rank, booked from creation
// on) may be empty.
Status run_ranks(const PlannedScenario& planned, const RankBody& body, const StepObserver& observer = {},
                 std::span<MemoryLedger> ledgers = {}, const MakeBackend& make_backend = {});

using NamedTensors = std::map<std::string, at::Tensor>;

struct Trained {
  std::vector<double> losses;          // mean over ranks, every step
  std::vector<double> gradient_norms;  // every step; empty without clipping
  NamedTensors
      gradients;  // of the first step, averaged over the global batch, not clipped; none of frozen
                  // parameters, and none at all where an optimizer within backward drops them one by one
  NamedTensors initial;     // parameters before and
  NamedTensors parameters;  // after the steps
};

Result<Trained> train(const PlannedScenario& planned, int steps, const MakeBackend& make_backend = {});

// Largest |a - b| over the largest |b|, as float64. Infinite when shapes differ or anything is not finite.
double relative_difference(const at::Tensor& a, const at::Tensor& b);

struct WorstTensor {
  std::string name;
  double difference = 0;
};

// The tensor with the largest relative difference; infinite when the names differ.
WorstTensor worst_difference(const NamedTensors& a, const NamedTensors& b);

bool bitwise_equal(const NamedTensors& a, const NamedTensors& b);

}  // namespace shardlab::test
