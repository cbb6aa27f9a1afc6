#include "simulator/search/chances.h"

#include <algorithm>

#include "simulator/search/equal_candidates.h"

namespace shardlab {
namespace {

constexpr double k_low = 0.1, k_high = 0.9;

TrainingCosts costs_at(const SearchQuestion& question, const Candidate& candidate, double ratio) {
  StepTimes steps = steps_of(candidate.configuration, candidate.figures);
  steps.first_ns *= ratio;
  steps.steady_ns *= ratio;
  steps.forward_ns *= ratio;
  steps.busy_ns *= ratio;
  return training_costs(question.training, steps, rented(question, candidate.configuration));
}

// The ratio of step times up to which a cost keeps its bound; costs never fall when steps take longer.
template <typename Cost>
double chance_within(double bound, const TimeErrors& errors, Cost&& cost) {
  double low = 0, high = 1;
  while (cost(high) <= bound && high < 1e6) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (cost(middle) <= bound ? low : high) = middle;
  }
  return errors.at_most(low);
}

}  // namespace

Chances chances_of(const SearchQuestion& question, const Candidate& candidate, const TimeErrors& errors) {
  Chances chances;
  if (!candidate.costs.hours) return chances;
  const TrainingCosts low = costs_at(question, candidate, errors.quantile(k_low)),
                      high = costs_at(question, candidate, errors.quantile(k_high));
  chances.hours = CostRange{*low.hours, *high.hours};
  if (low.dollars && high.dollars) chances.dollars = CostRange{*low.dollars, *high.dollars};
  if (question.needs.hours)
    chances.in_time = chance_within(*question.needs.hours, errors, [&](double ratio) {
      return *costs_at(question, candidate, ratio).hours;
    });
  if (question.needs.dollars && candidate.costs.dollars)
    chances.in_budget = chance_within(*question.needs.dollars, errors, [&](double ratio) {
      return *costs_at(question, candidate, ratio).dollars;
    });
  return chances;
}

std::optional<double> chance_before(const Order& order, const Candidate& a, const Candidate& b,
                                    const TimeErrors& errors) {
  if (!same_first(order, a, b)) return std::nullopt;
  const auto of_a = compared(order, a), of_b = compared(order, b);
  if (!of_a || !of_b || *of_a <= 0) return std::nullopt;
  const double ratio = std::max(1.0, *of_b / *of_a);
  const bool same_hardware = a.configuration.node == b.configuration.node;
  return same_hardware ? errors.faster(ratio) : errors.faster_elsewhere(ratio);
}

AsGood as_good_as(const Leader& leader, const SearchResult& result, const TimeErrors& errors) {
  AsGood found;
  const Candidate& best = *leader.best;
  const Candidate* nearest = &best;
  for (const Candidate& each : result.simulated) {
    if (!each.satisfies() || each.configuration.index == best.configuration.index) continue;
    const auto chance = chance_before(leader.order, best, each, errors);
    if (!chance || *chance >= k_told_apart) continue;
    ++found.count;
    if (nearer_to_defaults(each.configuration, nearest->configuration)) nearest = &each;
  }
  if (nearest != &best) found.nearest = *nearest;
  return found;
}

}  // namespace shardlab
