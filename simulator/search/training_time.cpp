#include "simulator/search/training_time.h"

#include <algorithm>
#include <cmath>

namespace shardlab {
namespace {

constexpr double k_nanoseconds_an_hour = 3.6e12;
// Shares of a GPU's power, without work and what work adds; the host beside eight of them (training_time.h).
constexpr double k_drawn_idle = 0.35, k_drawn_busy = 0.6, k_watts_of_host = 1500, k_gpus_of_host = 8;

double hours_of(Nanoseconds time) {
  return static_cast<double>(time.value) / k_nanoseconds_an_hour;
}

// Unknown where something has to be rented and its price is not known, or the energy of what is there.
std::optional<double> money_of(double hours, double power, const Energy& energy, const StepTimes& steps,
                               const Rented& rented) {
  if (!rented.price && !(rented.owned && energy.price)) return std::nullopt;
  if (energy.price && power <= 0) return std::nullopt;
  return hours * (rented.price.value_or(0) * steps.nodes + energy.price.value_or(0) * power);
}

}  // namespace

FailureModel failure_model(const Failures& failures, const EventRate* interruptions, int gpus, int nodes) {
  const auto an_hour = [&](const EventRate& rate) {
    return rate.count / (rate.days * 24) * (rate.of_nodes ? nodes : gpus);
  };
  return {an_hour(failures.rate) + (interruptions != nullptr ? an_hour(*interruptions) : 0),
          hours_of(failures.checkpoint), hours_of(failures.downtime), hours_of(failures.recovery)};
}

double kilowatts(const StepTimes& steps, double overhead) {
  const double busy = steps.steady_ns > 0 ? std::min(1.0, steps.busy_ns / steps.steady_ns) : 0;
  const double of_gpu = steps.watts * (k_drawn_idle + k_drawn_busy * busy);
  return (of_gpu + k_watts_of_host / k_gpus_of_host) * steps.gpus / 1000 * overhead;
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

TrainingCosts training_costs(const Training& training, const StepTimes& steps, const Rented& rented) {
  TrainingCosts costs;
  double steady_ns = steps.steady_ns;
  if (training.evaluation)
    steady_ns += steps.forward_ns * static_cast<double>(training.evaluation->batches) /
                 static_cast<double>(training.evaluation->every);
  const double power = steps.watts > 0 ? kilowatts(steps, training.energy.overhead) : 0;
  if (!training.tokens) {
    costs.time = steady_ns / 1e9 / static_cast<double>(steps.tokens);
    costs.money = money_of(costs.time / 3600, power, training.energy, steps, rented);
    return costs;
  }
  const double count = std::ceil(static_cast<double>(*training.tokens) / static_cast<double>(steps.tokens));
  double hours = (steps.first_ns + (count - 1) * steady_ns) / k_nanoseconds_an_hour;
  if (training.failures) {
    const FailureModel model =
        failure_model(*training.failures, rented.interruptions, steps.gpus, steps.nodes);
    costs.checkpoint_interval = best_interval(hours, model);
    hours = hours_with_failures(hours, *costs.checkpoint_interval, model);
  }
  costs.time = hours;
  costs.hours = hours;
  if (power > 0) costs.kilowatt_hours = power * hours;
  costs.money = costs.dollars = money_of(hours, power, training.energy, steps, rented);
  return costs;
}

}  // namespace shardlab
