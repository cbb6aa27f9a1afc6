#include "simulator/search/candidate.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/report/figures.h"

namespace shardlab {
namespace {

// A configuration whose memory is predicted to suffice, and not likely enough, is nearer than any that lacks.
constexpr double k_unlikely = 1e-4;
// What does not fit for another reason than the steps' memory (a host's, a phase of the job).
constexpr double k_fits_elsewise = 0.5;

std::string figure_text(double value, MetricUnit unit) {
  return metric_figure(value, unit);
}

void check_fit(const Needs& needs, const PredictedFigures& figures, std::vector<Miss>& misses) {
  const bool likely =
      figures.fit_probability.value_or(figures.fits == Fit::no ? 0 : 1) >= needs.fit_probability;
  if (likely && figures.fits != Fit::no && figures.retries == 0) return;
  Miss miss;
  miss.of_memory = true;
  const Bytes needed =
      std::max({figures.device_high.value_or(Bytes{}), figures.memory(), figures.peak_allocated});
  if (figures.limit && needed > *figures.limit) {
    miss.excess = static_cast<double>(needed.value) / static_cast<double>(figures.limit->value) - 1;
    miss.text = fmt::format("needs up to {} of {}", to_string(needed), to_string(*figures.limit));
  } else {
    miss.excess = likely ? k_fits_elsewise
                         : k_unlikely * (1 + needs.fit_probability - figures.fit_probability.value_or(0));
    miss.text = figures.fit_reason.empty() ? "may not fit" : figures.fit_reason;
  }
  if (likely && figures.retries > 0)
    miss.text += "; only by giving memory back, at a cost that is not predicted";
  else if (figures.fit_probability)
    miss.text += "; fits with " + chance(*figures.fit_probability);
  misses.push_back(std::move(miss));
}

void check_most(double value, std::optional<double> most, const std::string& text,
                std::vector<Miss>& misses) {
  if (most && value > *most) misses.push_back({*most > 0 ? value / *most - 1 : 1e9, false, text});
}

void check_metric(const MetricNeed& need, const PredictedFigures& figures, std::vector<Miss>& misses) {
  const auto found = figures.metrics.find(need.metric);
  if (found == figures.metrics.end()) {
    misses.push_back({1, false, need.metric + " is not known"});
    return;
  }
  const double value = found->second;
  const auto text = [&](double bound) {
    return fmt::format("{} is {}, not {}", need.metric, figure_text(value, need.unit),
                       figure_text(bound, need.unit));
  };
  if (need.most) check_most(value, need.most, text(*need.most), misses);
  if (need.least && value < *need.least)
    misses.push_back({value > 0 ? *need.least / value - 1 : 1e9, false, text(*need.least)});
}

}  // namespace

std::optional<double> dollars_an_hour(const Configuration& configuration) {
  if (configuration.offer == nullptr || !configuration.offer->price) return std::nullopt;
  return *configuration.offer->price * configuration.nodes;
}

double Candidate::worst_miss() const {
  double worst = 0;
  for (const Miss& miss : misses) worst = std::max(worst, miss.excess);
  return worst;
}

Rented rented(const SearchQuestion& question, const Configuration& configuration) {
  Rented rented;
  rented.owned = question.offers.empty();
  if (configuration.offer == nullptr) return rented;
  rented.price = configuration.offer->price;
  if (configuration.offer->interruptions) rented.interruptions = &*configuration.offer->interruptions;
  return rented;
}

StepTimes steps_of(const Configuration& configuration, const PredictedFigures& figures) {
  StepTimes steps;
  steps.first_ns = static_cast<double>(figures.first_step.value);
  steps.steady_ns = static_cast<double>(figures.step_time.value);
  steps.tokens = figures.tokens;
  steps.gpus = configuration.gpus;
  steps.nodes = configuration.nodes;
  steps.forward_ns = static_cast<double>(figures.forward.value);
  steps.busy_ns = static_cast<double>((figures.step_time - figures.exposed_communication).value);
  steps.watts = configuration.watts;
  return steps;
}

Candidate candidate_of(const SearchQuestion& question, Configuration configuration,
                       PredictedFigures figures) {
  Candidate candidate{std::move(configuration), std::move(figures), {}, {}};
  candidate.costs = training_costs(question.training, steps_of(candidate.configuration, candidate.figures),
                                   rented(question, candidate.configuration));
  const Needs& needs = question.needs;
  std::vector<Miss>& misses = candidate.misses;
  check_fit(needs, candidate.figures, misses);
  const int gpus = candidate.configuration.gpus;
  if (needs.gpus)
    check_most(gpus, static_cast<double>(*needs.gpus), fmt::format("{} GPUs, not {}", gpus, *needs.gpus),
               misses);
  if (candidate.costs.hours && needs.hours)
    check_most(*candidate.costs.hours, needs.hours,
               fmt::format("takes {:.4g} hours, not {:.4g}", *candidate.costs.hours, *needs.hours), misses);
  if (needs.dollars && !candidate.costs.dollars) misses.push_back({1, false, "no price is known"});
  if (candidate.costs.dollars && needs.dollars)
    check_most(*candidate.costs.dollars, needs.dollars,
               fmt::format("costs ${:.0f}, not ${:.0f}", *candidate.costs.dollars, *needs.dollars), misses);
  if (needs.dollars_per_hour) {
    const auto hourly = dollars_an_hour(candidate.configuration);
    if (!hourly) misses.push_back({1, false, "no price is known"});
    check_most(hourly.value_or(0), needs.dollars_per_hour,
               fmt::format("${:.2f} an hour, not ${:.2f}", hourly.value_or(0), *needs.dollars_per_hour),
               misses);
  }
  for (const MetricNeed& need : needs.metrics) check_metric(need, candidate.figures, misses);
  return candidate;
}

LowerBounds exact_bounds(const Candidate& candidate) {
  const PredictedFigures& figures = candidate.figures;
  return {static_cast<double>(figures.step_time.value),
          figures.peak_allocated,
          figures.limit,
          candidate.costs,
          candidate.configuration.gpus,
          candidate.configuration.micro_batch};
}

// Rounded up, so that nothing is left out for the rounding of whoever reckons the limit itself.
LowerBounds with_memory(LowerBounds bounds, double times) {
  if (bounds.limit)
    bounds.limit =
        Bytes{static_cast<std::int64_t>(std::ceil(static_cast<double>(bounds.limit->value) * times)) + 1};
  return bounds;
}

double certain_miss(const SearchQuestion& question, const LowerBounds& bounds) {
  const Needs& needs = question.needs;
  double worst = 0;
  const auto over = [&](double value, double most) {
    if (value > most) worst = std::max(worst, most > 0 ? value / most - 1 : 1e9);
  };
  if (bounds.limit) over(static_cast<double>(bounds.memory.value), static_cast<double>(bounds.limit->value));
  if (needs.gpus) over(bounds.gpus, static_cast<double>(*needs.gpus));
  if (needs.hours && bounds.costs.hours) over(*bounds.costs.hours, *needs.hours);
  if (needs.dollars && bounds.costs.dollars) over(*bounds.costs.dollars, *needs.dollars);
  return worst;
}

}  // namespace shardlab
