#include "simulator/search/report/measured_ranking.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

constexpr double k_apart = 0.1;

std::optional<Rank> rank(const Order& order, const Candidate& each) {
  const double largest =
      order.largest.empty() ? 0 : number_given(each.configuration.settings, order.largest).value_or(0);
  return rank_of(order, each.costs.time, each.costs.money, each.configuration.gpus,
                 each.configuration.micro_batch, largest);
}

// Money where the order goes by money, else time.
double compared(const Order& order, const TrainingCosts& costs) {
  const bool by_money = order.largest.empty() && order.objective == SearchObjective::money;
  return by_money ? costs.money.value_or(0) : costs.time;
}

double measured_cost(const SearchQuestion& question, const Order& order, const MeasuredCandidate& row) {
  const Candidate& candidate = row.candidate;
  StepTimes steps = steps_of(candidate.configuration, candidate.figures);
  const double ratio = static_cast<double>(row.step_time->value) / steps.steady_ns;
  steps.first_ns *= ratio;
  steps.steady_ns *= ratio;
  steps.forward_ns *= ratio;
  steps.busy_ns *= ratio;
  return compared(order, training_costs(question.training, steps, rented(question, candidate.configuration)));
}

std::string error_text(const MeasuredCandidate& row) {
  const double predicted = static_cast<double>(row.candidate.figures.step_time.value);
  return signed_percent(predicted / static_cast<double>(row.step_time->value) - 1);
}

}  // namespace

std::vector<Candidate> best_of(const Order& order, const SearchResult& result, std::size_t count) {
  std::vector<const Candidate*> ranked;
  for (const Candidate& each : result.simulated)
    if (each.satisfies() && rank(order, each)) ranked.push_back(&each);
  std::sort(ranked.begin(), ranked.end(), [&](const Candidate* a, const Candidate* b) {
    const auto of_a = rank(order, *a), of_b = rank(order, *b);
    return of_a != of_b ? *of_a < *of_b : nearer_to_defaults(a->configuration, b->configuration);
  });
  std::vector<Candidate> best;
  for (const Candidate* const each : ranked) {
    if (best.size() == count) break;
    const bool known = std::any_of(best.begin(), best.end(), [&](const Candidate& other) {
      return rank(order, other) == rank(order, *each) && predicted_equal(other.figures, each->figures);
    });
    if (!known) best.push_back(*each);
  }
  return best;
}

MeasuredRanking rank_measured(const SearchQuestion& question, const Order& order,
                              std::vector<MeasuredCandidate> rows) {
  MeasuredRanking ranking;
  ranking.rows = std::move(rows);
  for (std::size_t i = 0; i < ranking.rows.size(); ++i) {
    const MeasuredCandidate& row = ranking.rows[i];
    ranking.measured.push_back(row.step_time ? std::optional(measured_cost(question, order, row))
                                             : std::nullopt);
    if (row.step_time) ranking.order.push_back(i);
  }
  const std::vector<std::optional<double>>& cost = ranking.measured;
  for (std::size_t i = 0; i < ranking.order.size(); ++i) {
    for (std::size_t j = i + 1; j < ranking.order.size(); ++j) {
      const double first = *cost[ranking.order[i]], second = *cost[ranking.order[j]];
      if (std::max(first, second) < (1 + k_apart) * std::min(first, second)) continue;
      ++ranking.pairs;
      ranking.in_order += first < second;
    }
  }
  if (ranking.order.empty()) return ranking;
  const double pick = *cost[ranking.order.front()];
  std::stable_sort(ranking.order.begin(), ranking.order.end(),
                   [&](std::size_t a, std::size_t b) { return *cost[a] < *cost[b]; });
  ranking.regret = pick / *cost[ranking.order.front()] - 1;
  return ranking;
}

std::string measured_ranking_text(const SearchQuestion& question, const Order& order,
                                  const MeasuredRanking& ranking, const TextStyle& style) {
  TextTable table({{"predicted", Align::right},
                   {"measured", Align::right},
                   {"step", Align::right},
                   {"ran in", Align::right},
                   {"error", Align::right},
                   {"run", Align::left, true, 19},
                   {"configuration", Align::left, true, 20}},
                  "  ");
  for (std::size_t i = 0; i < ranking.rows.size(); ++i) {
    const MeasuredCandidate& row = ranking.rows[i];
    const auto place = std::find(ranking.order.begin(), ranking.order.end(), i);
    const std::string configuration =
        fmt::format("{}", fmt::join(knob_words(question, row.candidate.configuration), ", "));
    table.add({fmt::format("{}", i + 1),
               row.step_time ? fmt::format("{}", place - ranking.order.begin() + 1) : "-",
               to_string(row.candidate.figures.step_time), row.step_time ? to_string(*row.step_time) : "-",
               row.step_time ? error_text(row) : "-", row.run, configuration});
  }
  std::string text =
      fmt::format("the {} best for {} beside their runs\n", ranking.rows.size(), order_words(order)) +
      table.text(style);
  if (!ranking.regret) return text + "\nnone of them was measured\n";
  text += fmt::format("\n{} of {} pairs whose runs are 10 % apart come in the predicted order\n",
                      ranking.in_order, ranking.pairs);
  return text + fmt::format("the pick takes {} more than the best that ran\n", percent(*ranking.regret));
}

Json measured_ranking_json(const Order& order, const MeasuredRanking& ranking) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < ranking.rows.size(); ++i) {
    const MeasuredCandidate& row = ranking.rows[i];
    rows.push_back({{"settings", row.candidate.configuration.settings},
                    {"predicted_step_ns", row.candidate.figures.step_time.value},
                    {"measured_step_ns", row.step_time ? Json(row.step_time->value) : Json(nullptr)},
                    {"run", row.run},
                    {"cost", ranking.measured[i] ? Json(*ranking.measured[i]) : Json(nullptr)}});
  }
  std::vector<std::size_t> places;
  for (const std::size_t each : ranking.order) places.push_back(each + 1);
  return {
      {"objective", order_words(order)}, {"candidates", std::move(rows)},
      {"measured_order", places},        {"pairs", ranking.pairs},
      {"in_order", ranking.in_order},    {"regret", ranking.regret ? Json(*ranking.regret) : Json(nullptr)}};
}

}  // namespace shardlab
