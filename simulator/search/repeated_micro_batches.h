// The prediction of a step of many micro-batches, from those of steps of few.
//
// Behind the first micro-batches of a step every further one does what the one before it did: the same
// instructions from the same state, so time grows by the same nanoseconds and peaks stay. Where three steps
// that differ by one micro-batch each say so, figure by figure, a step of any larger number is known without
// simulating it; where they do not, nothing is said. The figures are those of the simulation, to the byte and
// the nanosecond (tests/unit/search/repeated_micro_batches_test.cpp).
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "simulator/search/full_prediction.h"
#include "simulator/search/outcome.h"
#include "simulator/search/step_prediction.h"

namespace shardlab {

class RepeatedMicroBatches {
 public:
  // How many micro-batches the three steps have. Fewer do not tell: the first and the last are unlike others,
  // and what prefetches reaches from one into the next.
  static constexpr std::array<int, 3> k_counts = {4, 5, 6};
  // From here on three short simulations are less work than the one.
  static constexpr int k_worthwhile = 16;

  // Predicts the scenario with so many micro-batches. None where memory does not repeat, or a figure neither
  // stays nor grows evenly. Errors: those of `predict`.
  static Result<std::optional<RepeatedMicroBatches>> find(
      const Scenario& scenario, const std::function<Result<FullPrediction>(const Scenario&)>& predict);

  // The figures of the scenario, which differs in the number of its micro-batches alone: more than 6. None
  // where one of them is more than an integer holds.
  std::optional<PredictedFigures> figures(const Scenario& scenario) const;

 private:
  RepeatedMicroBatches(StepPrediction before, StepPrediction last)
      : before_(std::move(before)), last_(std::move(last)) {}

  StepPrediction before_, last_;  // the longer two of the three
};

}  // namespace shardlab
