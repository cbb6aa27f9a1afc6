#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "simulator/search/chances.h"
#include "simulator/search/equal_candidates.h"
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

// Why it is recommended: under the objective that was asked for, what each knob one step away would cost.
std::vector<std::string> reasons(const SearchReport& report, const std::vector<const Leader*>& leaders) {
  const Leader& leader = *leaders.front();
  const std::string satisfy = fmt::format("the best of {} that satisfy",
                                          grouped(static_cast<std::int64_t>(report.result.space.satisfying)));
  std::vector<std::string> words = {
      leader.nearest_equal
          ? fmt::format("it equals {} to {:g} % and is {}", satisfy, k_equal * 100, why_recommended(leader))
          : "it is " + satisfy};
  if (std::find(leaders.begin(), leaders.end(), leader_of(report)) == leaders.end()) return words;
  for (const Neighbour& each : report.neighbours) {
    if (!each.candidate || !each.candidate->satisfies()) continue;
    const double slower = each.candidate->costs.time / recommended(leader).costs.time - 1;
    if (slower > 0.005)
      words.push_back(fmt::format("{} {} would take {} longer", each.key, each.to, percent(slower)));
  }
  return words;
}

// Another configuration beside the one that is recommended: "parallel fsdp1 instead of fsdp2: +1.1 % time".
std::string beside(const SearchReport& report, const Candidate& other, const Candidate& answer) {
  return instead(report.question, other.configuration, answer.configuration) + ": " + against(other, answer);
}

// The best where something that equals it is recommended, and who comes next.
std::string others(const SearchReport& report, const Leader& leader, int width) {
  const Candidate& answer = recommended(leader);
  std::string text;
  const auto chance_of = [&](const Candidate& a, const Candidate& b) {
    return report.errors != nullptr ? chance_before(leader.order, a, b, *report.errors) : std::nullopt;
  };
  if (leader.nearest_equal) {
    std::vector<std::string> words = {beside(report, *leader.best, answer)};
    if (const auto better = chance_of(*leader.best, answer))
      words.push_back(fmt::format("really better with {}", chance(*better)));
    text += wrapped("    the best   ", words, width);
  }
  const std::optional<Candidate>& second = leader.second;
  if (!second || second->configuration.index == answer.configuration.index) return text;
  std::vector<std::string> words = {beside(report, *second, answer)};
  if (const auto before = chance_of(answer, *second))
    words.push_back(fmt::format("beaten with {}{}", chance(*before),
                                *before < k_told_apart ? ": within the error of predictions" : ""));
  return text + wrapped("    runner-up  ", words, width);
}

}  // namespace

std::string recommendation_text(const SearchReport& report, const TextStyle& style) {
  std::string text;
  for (const auto& leaders : leaders_together(report)) {
    if (!text.empty()) text += "\n";
    const Candidate& best = recommended(*leaders.front());
    text += candidate_block(report.question, "for " + orders_words(leaders), best, style.width);
    text += wrapped("    changes    ", differences(report.question, best.configuration), style.width);
    text += wrapped("    because    ", reasons(report, leaders), style.width);
    text += wrapped("    risk       ", risks(report, best), style.width);
    const char* label = "    likely     ";
    for (const std::string& line : chance_lines(report, *leaders.front()))
      text += wrapped(std::exchange(label, "               "), {line}, style.width);
    text += others(report, *leaders.front(), style.width);
  }
  if (const auto beyond = beyond_batch_words(report.question, report.result.beyond_batch); !beyond.empty())
    text += "\n" + wrapped("left out       ", beyond, style.width);
  if (report.result.space.open > 0) text += "\nThe search was not finished: the best so far.\n";
  if (report.result.answers.empty()) text = "Nothing satisfies.\n" + nearest_table(report, style);
  return text;
}

}  // namespace shardlab
