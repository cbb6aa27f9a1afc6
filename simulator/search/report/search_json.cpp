#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/csv.h"
#include "simulator/search/chances.h"
#include "simulator/search/equal_candidates.h"
#include "simulator/search/report/search_report.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::optional<Bytes>& value) {
  return value ? Json(value->value) : Json(nullptr);
}

Json objective_json(const Order& order) {
  return order.largest.empty() ? Json(to_string(order.objective)) : Json("largest " + order.largest);
}

Json candidate_json(const Candidate& candidate, Json objective) {
  const Configuration& configuration = candidate.configuration;
  const PredictedFigures& figures = candidate.figures;
  return {{"objective", std::move(objective)},
          {"settings", configuration.settings},
          {"gpus", configuration.gpus},
          {"nodes", configuration.nodes},
          {"node", configuration.offer != nullptr ? Json(offer_name(*configuration.offer)) : Json(nullptr)},
          {"micro_batch", configuration.micro_batch},
          {"accumulation", configuration.accumulation},
          {"changes", configuration.changes},
          {"step_time_ns", figures.step_time.value},
          {"tokens_per_second", figures.tokens_per_second},
          {"mfu", or_null(figures.mfu)},
          {"exposed_communication_ns", figures.exposed_communication.value},
          {"peak_allocated", figures.peak_allocated.value},
          {"peak_device", or_null(figures.peak_device)},
          {"memory_limit", or_null(figures.limit)},
          {"fits", figures.fits ? Json(to_string(*figures.fits)) : Json(nullptr)},
          {"fit_probability", or_null(figures.fit_probability)},
          {"hours", or_null(candidate.costs.hours)},
          {"dollars", or_null(candidate.costs.dollars)},
          {"checkpoint_interval_hours", or_null(candidate.costs.checkpoint_interval)},
          {"kilowatt_hours", or_null(candidate.costs.kilowatt_hours)}};
}

Json range_json(const std::optional<CostRange>& range) {
  return range ? Json{range->low, range->high} : Json(nullptr);
}

// What is likely of an answer; nulls where no errors are known.
void add_chances(const SearchReport& report, const Leader& leader, Json& answer) {
  const TimeErrors* const errors = report.errors;
  const Chances chances = errors != nullptr ? chances_of(report.question, *leader.best, *errors) : Chances();
  answer["hours_range"] = range_json(chances.hours);
  answer["dollars_range"] = range_json(chances.dollars);
  answer["deadline_probability"] = or_null(chances.in_time);
  answer["budget_probability"] = or_null(chances.in_budget);
  answer["beats_runner_up_probability"] =
      errors != nullptr && leader.second
          ? or_null(chance_before(leader.order, *leader.best, *leader.second, *errors))
          : Json(nullptr);
  answer["within_error"] =
      errors != nullptr ? Json(as_good_as(leader, report.result, *errors).count) : Json(nullptr);
}

Json answers_json(const SearchReport& report) {
  Json answers = Json::array();
  for (const Leader& leader : report.result.answers) {
    Json answer = candidate_json(*leader.best, objective_json(leader.order));
    add_chances(report, leader, answer);
    answer["recommended"] = candidate_json(recommended(leader), objective_json(leader.order));
    answer["runner_up"] =
        leader.second ? candidate_json(*leader.second, objective_json(leader.order)) : Json(nullptr);
    answers.push_back(std::move(answer));
  }
  return answers;
}

Json nearest_json(const SearchReport& report) {
  Json nearest = Json::array();
  for (const NearMiss& miss : report.nearest) {
    Json json = candidate_json(miss.candidate, nullptr);
    json["misses"] = Json::array();
    for (const Miss& each : miss.candidate.misses)
      json["misses"].push_back({{"what", each.text}, {"excess", each.excess}});
    json["mend"] = Json(nullptr);
    if (miss.mend) {
      json["mend"] = candidate_json(miss.mend->candidate, nullptr);
      json["mend"]["setting"] = miss.mend->setting;
      json["mend"]["beyond_offer"] = miss.mend->beyond_offer;
    }
    nearest.push_back(std::move(json));
  }
  return nearest;
}

Json neighbour_json(const Neighbour& neighbour, const std::optional<double>& gain) {
  Json json = {
      {"key", neighbour.key}, {"from", neighbour.from}, {"to", neighbour.to}, {"refused", neighbour.refused}};
  json["satisfies"] = neighbour.candidate && neighbour.candidate->satisfies();
  json["prediction"] = neighbour.candidate ? candidate_json(*neighbour.candidate, nullptr) : Json(nullptr);
  json["gain_probability"] = or_null(gain);
  json["best_then"] = nullptr;
  json["untried"] = nullptr;
  return json;
}

// Knobs one step away, then other hardware; of a GPU that does not exist there are no errors of predictions.
Json sensitivity_json(const SearchReport& report) {
  Json rows = Json::array();
  for (const Neighbour& each : report.neighbours)
    rows.push_back(neighbour_json(each, gain_chance(report, each)));
  for (const OtherHardware& each : report.hardware) {
    Json json = neighbour_json(each.own, std::nullopt);
    if (each.best_then) json["best_then"] = candidate_json(*each.best_then, nullptr);
    if (each.asked_who_is_best) json["untried"] = each.untried;
    rows.push_back(std::move(json));
  }
  return rows;
}

Json space_json(const SpaceCounts& space) {
  return {{"total", space.total},
          {"refused", space.refused},
          {"indivisible", space.indivisible},
          {"bounded", space.bounded},
          {"simulated", space.simulated},
          {"open", space.open},
          {"not_fitting", space.not_fitting},
          {"unmet", space.unmet},
          {"satisfying", space.satisfying}};
}

Json why_json(const WhyNot& why) {
  Json json = {{"settings", why.settings},
               {"impossible", why.impossible},
               {"other_batch", why.other_batch},
               {"misses", Json::array()},
               {"asked", nullptr},
               {"answer", nullptr}};
  if (!why.asked) return json;
  for (const Miss& each : why.asked->misses)
    json["misses"].push_back({{"what", each.text}, {"excess", each.excess}});
  json["asked"] = candidate_json(*why.asked, nullptr);
  json["answer"] = candidate_json(*why.answer, nullptr);
  return json;
}

template <typename T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

Json search_json(const SearchReport& report) {
  const SearchResult& result = report.result;
  Json front = Json::array();
  for (const FrontPoint& point : result.front) {
    front.push_back(candidate_json(point.candidate, nullptr));
    front.back()["alike"] = point.alike;
  }
  Json refusals = Json::array();
  for (const auto& [reason, count] : result.refusals)
    refusals.push_back({{"reason", reason}, {"count", count}});
  const SearchQuestion& question = report.question;
  return {{"search_id", report.id},
          {"scenario", question.base.scenario.name},
          {"objective", to_string(question.objective)},
          {"global_batch", or_null(question.global_batch)},
          {"tokens", or_null(question.training.tokens)},
          {"space", space_json(result.space)},
          {"refusals", std::move(refusals)},
          {"beyond_batch", result.beyond_batch},
          {"answers", answers_json(report)},
          {"front", std::move(front)},
          {"nearest", nearest_json(report)},
          {"sensitivity", sensitivity_json(report)},
          {"why", report.why ? why_json(*report.why) : Json(nullptr)},
          {"timing",
           {{"seconds", result.timing.seconds},
            {"estimates_per_second_per_core", result.timing.estimates_per_second},
            {"simulations_per_second_per_core", result.timing.simulations_per_second}}}};
}

std::string search_csv(const SearchReport& report) {
  const SearchQuestion& question = report.question;
  std::string text;
  for (const Knob& knob : question.knobs) text += csv_field(knob.key) + ",";
  text +=
      "gpus,nodes,accumulation,step_time_ns,tokens_per_second,peak_allocated,peak_device,fit_probability,"
      "hours,dollars,satisfies,misses\n";
  for (const Candidate& each : report.result.simulated) {
    for (std::size_t i = 0; i < question.knobs.size(); ++i)
      text += csv_field(question.knobs[i].choices[each.configuration.choices[i]].shown) + ",";
    std::string misses;
    for (const Miss& miss : each.misses) misses += (misses.empty() ? "" : "; ") + miss.text;
    const PredictedFigures& figures = each.figures;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", each.configuration.gpus,
                        each.configuration.nodes, each.configuration.accumulation, figures.step_time.value,
                        figures.tokens_per_second, figures.peak_allocated.value,
                        figures.peak_device ? fmt::format("{}", figures.peak_device->value) : "",
                        cell(figures.fit_probability), cell(each.costs.hours), cell(each.costs.dollars),
                        each.satisfies() ? "yes" : "no", csv_field(misses));
  }
  return text;
}

}  // namespace shardlab
