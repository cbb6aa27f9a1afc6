// How long and how expensive a training is: steps, and what failures and checkpoints add.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/search/search_question.h"

namespace shardlab {

// Hours, and failures an hour of the whole cluster.
struct FailureModel {
  double rate = 0;
  double checkpoint = 0;  // writing one, while the training waits
  double downtime = 0;    // until a failed cluster is back
  double recovery = 0;    // reading the last checkpoint; may fail too
};

FailureModel failure_model(const Failures& failures, int gpus, int nodes);

// The expected hours of `work` hours that are cut into pieces of `interval`, each followed by a checkpoint
// and done again after a failure: W/t e^(l r) (1/l + d) (e^(l (t + c)) - 1). Without failures: the work and
// its checkpoints.
double hours_with_failures(double work, double interval, const FailureModel& model);

// The interval that makes this least, at most the work itself.
double best_interval(double work, const FailureModel& model);

// What the steps of one configuration take, as predicted or as bounded from below.
struct StepTimes {
  double first_ns = 0, steady_ns = 0;
  std::int64_t tokens = 0;  // of a step
  int gpus = 1, nodes = 1;
};

struct TrainingCosts {
  double time = 0;              // hours for the tokens; without tokens seconds for one
  std::optional<double> money;  // dollars for the tokens, without them for one; unknown without a price
  std::optional<double> hours, dollars;       // with tokens
  std::optional<double> checkpoint_interval;  // hours, where failures are reckoned with
};

// Never falls when a time of a step rises. `price`: dollars an hour of one node.
TrainingCosts training_costs(const Training& training, const StepTimes& steps, std::optional<double> price);

}  // namespace shardlab
