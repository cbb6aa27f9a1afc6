#include "simulator/search/report/search_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "simulator/search/chances.h"
#include "simulator/search/equal_candidates.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

std::string memory_words(const PredictedFigures& figures) {
  const std::string limit = figures.limit ? " of " + to_string(*figures.limit) : std::string();
  return to_string(figures.memory()) + limit + " a rank";
}

// The last name of a key, with the one before where another knob has the same.
std::string title_of(const std::vector<Knob>& knobs, std::size_t at) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const std::string title = last(knobs[at].key);
  const auto same =
      std::count_if(knobs.begin(), knobs.end(), [&](const Knob& knob) { return last(knob.key) == title; });
  return same > 1 ? knobs[at].key : title;
}

std::string chance_cell(std::optional<double> probability) {
  return probability ? chance(*probability) : "-";
}

}  // namespace

std::string candidate_block(const SearchQuestion& question, const std::string& title,
                            const Candidate& candidate, int width) {
  const PredictedFigures& figures = candidate.figures;
  std::vector<std::string> first = {time_words(candidate)};
  if (candidate.costs.money) first.push_back(money_words(candidate));
  first.push_back(gpus_words(candidate));
  std::vector<std::string> second = {fmt::format("step {}", to_string(figures.step_time)),
                                     fmt::format("{} tokens/s", rate(figures.tokens_per_second)),
                                     memory_words(figures), fit_words(figures)};
  if (candidate.costs.checkpoint_interval)
    second.push_back(fmt::format("a checkpoint every {}", hours_words(*candidate.costs.checkpoint_interval)));
  const std::string indent = "    ";
  return title + "\n" + wrapped(indent, first, width) + wrapped(indent, second, width) +
         wrapped(indent, knob_words(question, candidate.configuration), width);
}

std::string answer_blocks(const SearchReport& report, const TextStyle& style) {
  std::string text;
  for (const auto& leaders : leaders_together(report)) {
    text += candidate_block(report.question, "best for " + orders_words(leaders), *leaders.front()->best,
                            style.width);
    for (const std::string& line : chance_lines(report, *leaders.front()))
      text += wrapped("    ", {line}, style.width);
  }
  return text;
}

std::string why_recommended(const Leader& leader) {
  const bool nearer = leader.nearest_equal->configuration.changes < leader.best->configuration.changes;
  return nearer ? "nearer to the scenario" : "as near to the scenario, with less memory";
}

std::vector<std::string> chance_lines(const SearchReport& report, const Leader& leader) {
  std::vector<std::string> lines;
  if (report.errors == nullptr) return lines;
  const Needs& needs = report.question.needs;
  const Candidate& answer = answer_of(report, leader);
  const Chances chances = chances_of(report.question, answer, *report.errors);
  if (chances.hours) {
    std::string line = fmt::format("in 8 of 10 cases {} to {}", hours_words(chances.hours->low),
                                   hours_words(chances.hours->high));
    if (chances.dollars)
      line += fmt::format(", {} to {}", dollars_words(chances.dollars->low),
                          dollars_words(chances.dollars->high));
    if (chances.in_time)
      line += fmt::format("; within {:g} hours with {}", *needs.hours, chance(*chances.in_time));
    if (chances.in_budget)
      line += fmt::format("; within {} with {}", dollars_words(*needs.dollars), chance(*chances.in_budget));
    lines.push_back(std::move(line));
  }
  if (!report.recommends && leader.nearest_equal)
    lines.push_back(fmt::format(
        "equal to {:g} %, and what `recommend` takes: {}: {}", k_equal * 100, why_recommended(leader),
        fmt::join(knob_words(report.question, leader.nearest_equal->configuration), ", ")));
  const AsGood as_good = as_good_as(leader, report.result, *report.errors);
  if (as_good.count == 0) return lines;
  std::string line =
      fmt::format("{} that satisfy are within the error of predictions", grouped(as_good.count));
  if (as_good.nearest && as_good.nearest->configuration.index != recommended(leader).configuration.index)
    line += fmt::format("; nearest to the scenario of these: {}",
                        fmt::join(knob_words(report.question, as_good.nearest->configuration), ", "));
  lines.push_back(std::move(line));
  return lines;
}

std::string front_table(const SearchReport& report, const TextStyle& style) {
  const SearchQuestion& question = report.question;
  const bool priced =
      std::any_of(report.result.front.begin(), report.result.front.end(),
                  [](const FrontPoint& point) { return point.candidate.costs.money.has_value(); });
  const bool trains = question.training.tokens.has_value();
  std::vector<TableColumn> columns = {{trains ? "time" : "step", Align::right},
                                      {"tokens/s", Align::right, false, 8, 3}};
  if (priced) columns.push_back({trains ? "money" : "$/M tokens", Align::right});
  columns.push_back({"memory", Align::right});
  columns.push_back({"fits", Align::right});
  columns.push_back({"GPUs", Align::right});
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < question.knobs.size(); ++i) {
    const bool said_by_gpus = i == 0 && question.offers.size() == 1;
    if (question.knobs[i].choices.size() < 2 || said_by_gpus) continue;
    shown.push_back(i);
    columns.push_back({title_of(question.knobs, i), Align::left, true, 12});
  }
  const bool folds = std::any_of(report.result.front.begin(), report.result.front.end(),
                                 [](const FrontPoint& point) { return point.alike > 0; });
  if (folds) columns.push_back({"alike", Align::right, false, 8, 1});
  TextTable table(columns, "  ");
  for (const FrontPoint& point : report.result.front) {
    const Candidate& each = point.candidate;
    std::vector<TableCell> cells = {
        trains ? hours_words(*each.costs.hours) : to_string(each.figures.step_time),
        rate(each.figures.tokens_per_second)};
    if (priced)
      cells.push_back(trains             ? money_words(each)
                      : each.costs.money ? fmt::format("{:.4f}", *each.costs.money * 1e6)
                                         : "-");
    cells.push_back(to_string(each.figures.memory()));
    cells.push_back(fit_cell(each.figures));
    cells.push_back(fmt::format("{}", each.configuration.gpus));
    for (const std::size_t knob : shown)
      cells.push_back(question.knobs[knob].choices[each.configuration.choices[knob]].shown);
    cells.push_back(point.alike > 0 ? fmt::format("+{}", point.alike) : "");
    table.add(std::move(cells));
  }
  return fmt::format("none of these is beaten in {} at once\n",
                     priced ? "time, peak memory and money" : "time and peak memory") +
         table.text(style);
}

std::string neighbour_table(const SearchReport& report, const TextStyle& style) {
  const Leader* const leader = leader_of(report);
  if (leader == nullptr || report.neighbours.empty()) return {};
  const Candidate& best = answer_of(report, *leader);
  const bool priced = best.costs.money.has_value();
  std::vector<TableColumn> columns = {{"knob", Align::left, true, 12},
                                      {"from", Align::left, true, 6},
                                      {"to", Align::left, true, 6},
                                      {"time", Align::right}};
  if (priced) columns.push_back({"money", Align::right});
  columns.push_back({"memory", Align::right});
  const bool has_chances = report.errors != nullptr;
  if (has_chances) columns.push_back({"gains with", Align::right, false, 10, 1});
  columns.push_back({"", Align::left, true, 10});
  TextTable table(columns, "  ");
  for (const Neighbour& each : report.neighbours) {
    std::vector<TableCell> cells = {each.key, each.from, each.to};
    if (!each.candidate) {
      cells.resize(columns.size() - 1, "-");
      cells.push_back("not possible: " + each.refused);
    } else {
      const Candidate& other = *each.candidate;
      cells.push_back(signed_percent(change(other.costs.time, best.costs.time)));
      if (priced)
        cells.push_back(other.costs.money ? signed_percent(change(*other.costs.money, *best.costs.money))
                                          : "-");
      cells.push_back(signed_bytes(other.figures.memory() - best.figures.memory()));
      if (has_chances) cells.push_back(chance_cell(gain_chance(report, each)));
      cells.push_back(other.satisfies() ? "" : other.misses.front().text);
    }
    table.add(std::move(cells));
  }
  return fmt::format("\nthe {} for {} with one knob a step away\n",
                     report.recommends ? "recommended" : "best", order_words(leader->order)) +
         table.text(style);
}

}  // namespace shardlab
