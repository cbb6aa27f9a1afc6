#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "simulator/search/chances.h"
#include "simulator/search/report/search_report.h"
#include "simulator/search/report/search_tables.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

// What is different from the scenario, as its keys.
std::vector<std::string> differences(const SearchQuestion& question, const Configuration& configuration) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < question.knobs.size(); ++i) {
    const Choice& choice = question.knobs[i].choices[configuration.choices[i]];
    if (!choice.standard) words.push_back(fmt::format("{} {}", question.knobs[i].key, choice.shown));
  }
  if (words.empty()) words.emplace_back("nothing");
  return words;
}

std::string against(const Candidate& runner_up, const Candidate& best) {
  std::string text = signed_percent(runner_up.costs.time / best.costs.time - 1) + " time";
  if (runner_up.costs.money && best.costs.money)
    text += fmt::format(", {} money", signed_percent(*runner_up.costs.money / *best.costs.money - 1));
  return text +
         fmt::format(", {} of memory", signed_bytes(runner_up.figures.memory() - best.figures.memory()));
}

std::vector<std::string> risks(const SearchReport& report, const Candidate& best) {
  const PredictedFigures& figures = best.figures;
  std::vector<std::string> words;
  if (figures.fit_probability) words.push_back("out of memory with " + chance(1 - *figures.fit_probability));
  if (figures.device_high && figures.limit && *figures.device_high > *figures.limit)
    words.push_back(fmt::format(
        "in 1 of 10 cases the allocator wants more than {} of {} and must give memory back, which takes time",
        to_string(*figures.device_high), to_string(*figures.limit)));
  else if (figures.device_high && figures.limit)
    words.push_back(fmt::format("in 9 of 10 cases less than {} of {}", to_string(*figures.device_high),
                                to_string(*figures.limit)));
  if (figures.fits == Fit::unsure && !figures.fit_reason.empty()) words.push_back(figures.fit_reason);
  if (best.costs.hours && !report.question.training.failures)
    words.emplace_back("failures are not reckoned with");
  if (!best.costs.money) words.emplace_back("money is unknown: no price is given");
  return words;
}

// Why it is the best: under the objective that was asked for, what each knob one step away would cost.
std::vector<std::string> reasons(const SearchReport& report, const std::vector<const Leader*>& leaders) {
  std::vector<std::string> words = {
      fmt::format("it is the best of {} that satisfy",
                  grouped(static_cast<std::int64_t>(report.result.space.satisfying)))};
  if (std::find(leaders.begin(), leaders.end(), leader_of(report)) == leaders.end()) return words;
  for (const Neighbour& each : report.neighbours) {
    if (!each.candidate || !each.candidate->satisfies()) continue;
    const double slower = each.candidate->costs.time / leaders.front()->best->costs.time - 1;
    if (slower > 0.005)
      words.push_back(fmt::format("{} {} would take {} longer", each.key, each.to, percent(slower)));
  }
  return words;
}

}  // namespace

std::string recommendation_text(const SearchReport& report, const TextStyle& style) {
  std::string text;
  for (const auto& leaders : leaders_together(report.result)) {
    if (!text.empty()) text += "\n";
    const Candidate& best = *leaders.front()->best;
    text += candidate_block(report.question, "for " + orders_words(leaders), best, style.width);
    text += wrapped("    changes    ", differences(report.question, best.configuration), style.width);
    text += wrapped("    because    ", reasons(report, leaders), style.width);
    text += wrapped("    risk       ", risks(report, best), style.width);
    const char* label = "    likely     ";
    for (const std::string& line : chance_lines(report, *leaders.front()))
      text += wrapped(std::exchange(label, "               "), {line}, style.width);
    const std::optional<Candidate>& second = leaders.front()->second;
    if (!second) continue;
    const std::string other = instead(report.question, second->configuration, best.configuration);
    std::vector<std::string> runner_up = {other + ": " + against(*second, best)};
    const auto before = report.errors != nullptr
                            ? chance_before(leaders.front()->order, best, *second, *report.errors)
                            : std::nullopt;
    if (before)
      runner_up.push_back(fmt::format("beaten with {}{}", chance(*before),
                                      *before < k_told_apart ? ": within the error of predictions" : ""));
    text += wrapped("    runner-up  ", runner_up, style.width);
  }
  if (report.result.space.open > 0) text += "\nThe search was not finished: the best so far.\n";
  if (report.result.answers.empty()) text = "Nothing satisfies.\n" + nearest_table(report, style);
  return text;
}

}  // namespace shardlab
