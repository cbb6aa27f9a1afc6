#include "simulator/search/training_time.h"

#include <algorithm>
#include <cmath>

namespace shardlab {
namespace {

constexpr double k_nanoseconds_an_hour = 3.6e12;

double hours_of(Nanoseconds time) {
  return static_cast<double>(time.value) / k_nanoseconds_an_hour;
}

}  // namespace

FailureModel failure_model(const Failures& failures, int gpus, int nodes) {
  const double devices = failures.of_nodes ? nodes : gpus;
  return {failures.count / (failures.days * 24) * devices, hours_of(failures.checkpoint),
          hours_of(failures.downtime), hours_of(failures.recovery)};
}

double hours_with_failures(double work, double interval, const FailureModel& model) {
  if (work <= 0) return 0;
  const double pieces = work / interval;
  if (model.rate <= 0) return work + pieces * model.checkpoint;
  return pieces * std::exp(model.rate * model.recovery) * (1 / model.rate + model.downtime) *
         std::expm1(model.rate * (interval + model.checkpoint));
}

// The derivative is zero where x = 1 - e^-(x + l c) for x = l t: one root, between 0 and 1.
double best_interval(double work, const FailureModel& model) {
  if (model.rate <= 0) return work;
  const double shift = model.rate * model.checkpoint;
  double low = 0, high = 1;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (middle + std::expm1(-(middle + shift)) < 0 ? low : high) = middle;
  }
  return std::min(work, high / model.rate);
}

TrainingCosts training_costs(const Training& training, const StepTimes& steps, std::optional<double> price) {
  TrainingCosts costs;
  const double nodes = steps.nodes;
  if (!training.tokens) {
    costs.time = steps.steady_ns / 1e9 / static_cast<double>(steps.tokens);
    if (price) costs.money = costs.time / 3600 * nodes * *price;
    return costs;
  }
  const double count = std::ceil(static_cast<double>(*training.tokens) / static_cast<double>(steps.tokens));
  double hours = (steps.first_ns + (count - 1) * steps.steady_ns) / k_nanoseconds_an_hour;
  if (training.failures) {
    const FailureModel model = failure_model(*training.failures, steps.gpus, steps.nodes);
    costs.checkpoint_interval = best_interval(hours, model);
    hours = hours_with_failures(hours, *costs.checkpoint_interval, model);
  }
  costs.time = hours;
  costs.hours = hours;
  if (price) costs.money = costs.dollars = hours * nodes * *price;
  return costs;
}

}  // namespace shardlab
