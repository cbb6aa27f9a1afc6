#include "simulator/backtest/ranking_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

std::string groups_text(const RankedGroups& groups, const TextStyle& style) {
  TextTable table(
      {{"by", Align::left}, {"pairs"}, {"in order"}, {"loss of the pick"}, {"worst"}, {"without"}}, "  ");
  for (const OrderScore& score : groups.scores)
    table.add({std::string(to_string(score.by)), fmt::format("{}", score.pairs), percent(score.in_order),
               percent(score.mean_regret), percent(score.worst_regret), fmt::format("{}", score.without)});
  return fmt::format("\n{}: {} groups, {} configurations, {} pairs 5 % apart\n",
                     groups.same_count ? "as many GPUs" : "any number of GPUs, by tokens/s a GPU",
                     groups.groups, groups.configurations, groups.pairs) +
         table.text(style);
}

std::string figure_of(std::optional<double> value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

std::string knobs_text(const Ranking& ranking, const TextStyle& style) {
  TextTable table({{"knob", Align::left}, {"pairs"}, {"prediction"}, {"roofline"}}, "  ");
  for (const KnobLine& line : ranking.knobs)
    table.add(
        {line.knob, fmt::format("{}", line.pairs), figure_of(line.prediction), figure_of(line.roofline)});
  const auto of = [&](double KnobScore::*member) {
    std::vector<std::string> cells;
    for (const KnobScore& score : ranking.scores) cells.push_back(figure_of(score.*member));
    return cells;
  };
  const auto medians = of(&KnobScore::median), over = of(&KnobScore::median_of_medians);
  table.add({"all", fmt::format("{}", ranking.knob_pairs), medians[0], medians[1]});
  table.add({"median over the medians by knob and source", fmt::format("{}", ranking.scores.front().medians),
             over[0], over[1]});
  return fmt::format(
             "\nwhat one knob buys: {} pairs that differ in one, median error of the log ratio over the "
             "published one\n"
             "({} of them without a prediction)\n",
             ranking.knob_pairs, ranking.scores.front().without) +
         table.text(style);
}

std::string targets_text(const Ranking& ranking, const TextStyle& style) {
  TextTable table({{"target", Align::left}, {"is"}, {"bound"}, {"", Align::left}}, "  ");
  for (const RankingTarget& target : ranking.targets) {
    const auto figure = [&](double value) {
      return target.is_share ? fmt::format("{:.3f}", value) : fmt::format("{:.0f}", value);
    };
    table.add({target.what, figure(target.value),
               fmt::format("{} {}", target.at_least ? ">=" : "<=", figure(target.bound)),
               TableCell(target.met() ? "met" : "NOT MET", target.met() ? Tone::good : Tone::bad)});
  }
  return "\ntargets\n" + table.text(style);
}

Json or_null(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string ranking_text(const Ranking& ranking, const TextStyle& style) {
  std::string text = fmt::format("ranking of {} published runs\n", ranking.rows);
  for (const RankedGroups& groups : ranking.groups) text += groups_text(groups, style);
  return text + knobs_text(ranking, style) + targets_text(ranking, style);
}

Json ranking_json(const Ranking& ranking) {
  Json groups = Json::array(), knobs = Json::array(), scores = Json::array(), targets = Json::array();
  for (const RankedGroups& each : ranking.groups) {
    Json by = Json::array();
    for (const OrderScore& score : each.scores)
      by.push_back({{"by", to_string(score.by)},
                    {"pairs", score.pairs},
                    {"without", score.without},
                    {"in_order", score.in_order},
                    {"in_order_where_predicted", score.in_order_of_ours},
                    {"mean_loss", score.mean_regret},
                    {"worst_loss", score.worst_regret}});
    groups.push_back({{"same_count", each.same_count},
                      {"groups", each.groups},
                      {"configurations", each.configurations},
                      {"pairs", each.pairs},
                      {"scores", std::move(by)}});
  }
  for (const KnobLine& line : ranking.knobs)
    knobs.push_back({{"knob", line.knob},
                     {"pairs", line.pairs},
                     {"prediction", or_null(line.prediction)},
                     {"roofline", or_null(line.roofline)}});
  for (const KnobScore& score : ranking.scores)
    scores.push_back({{"by", to_string(score.by)},
                      {"pairs", score.pairs},
                      {"without", score.without},
                      {"median", score.median},
                      {"medians", score.medians},
                      {"median_of_medians", score.median_of_medians}});
  for (const RankingTarget& target : ranking.targets)
    targets.push_back({{"what", target.what},
                       {"value", target.value},
                       {"bound", target.bound},
                       {"at_least", target.at_least},
                       {"met", target.met()}});
  return {{"rows", ranking.rows},
          {"groups", std::move(groups)},
          {"knob_pairs", ranking.knob_pairs},
          {"knobs", std::move(knobs)},
          {"knob_scores", std::move(scores)},
          {"ran", ranking.ran},
          {"said_not_to_fit", ranking.said_not_to_fit},
          {"targets", std::move(targets)}};
}

}  // namespace shardlab
