// How long and how expensive a training is: steps, and what failures and checkpoints add.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/search/question/search_question.h"

namespace shardlab {

// Hours, and failures an hour of the whole cluster.
struct FailureModel {
  double rate = 0;
  double checkpoint = 0;  // writing one, while the training waits
  double downtime = 0;    // until a failed cluster is back
  double recovery = 0;    // reading the last checkpoint; may fail too
};

// `interruptions`: of what is rented, beside the failures; may be null.
FailureModel failure_model(const Failures& failures, const EventRate* interruptions, int gpus, int nodes);

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
  double forward_ns = 0;  // of a micro-batch, forward alone
  double busy_ns = 0;     // of a steady step, in which the device computes
  double watts = 0;       // of a GPU's data sheet; 0: unknown
};

// What is paid and risked for a node of what is rented.
struct Rented {
  std::optional<double> price;  // dollars an hour
  bool owned = false;           // nothing is offered: what runs is there, and costs its energy alone
  const EventRate* interruptions = nullptr;  // of a spot offer
};

// Kilowatts of the whole cluster while it trains. A GPU draws (0.35 + 0.6 u) of its data sheet's power, u
// being the share of the step in which it computes, and every eight of them come with 1.5 kW of host;
// `overhead` as in Energy. Both are estimates: a large product runs at the limit of the board, an idle one
// draws about a tenth.
double kilowatts(const StepTimes& steps, double overhead);

struct TrainingCosts {
  double time = 0;              // hours for the tokens; without tokens seconds for one
  std::optional<double> money;  // dollars for the tokens, without them for one; unknown without a price
  std::optional<double> hours, dollars;       // with tokens
  std::optional<double> checkpoint_interval;  // hours, where failures are reckoned with
  std::optional<double> kilowatt_hours;       // with tokens, where the GPU's power is known
};

// Never falls when a time of a step rises. Money is the rent and, where it has a price, the energy.
TrainingCosts training_costs(const Training& training, const StepTimes& steps, const Rented& rented);

}  // namespace shardlab
