#include <nlohmann/json.hpp>

#include "engine/report/explain_time/explained_time.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json fit_or_null(const std::optional<Fit>& fits) {
  return fits ? Json(to_string(*fits)) : Json(nullptr);
}

Json row_json(const PathRow& row) {
  return {{"time_ns", row.time.value},
          {"part", to_string(row.part)},
          {"what", row.what},
          {"pieces", row.pieces},
          {"longest_id", row.longest.value},
          {"longest_ns", row.longest_time.value},
          {"after", row.after.empty() ? Json(nullptr) : Json(row.after)}};
}

Json operator_json(const OperatorTime& each) {
  return {{"operator", each.operation},
          {"backward", each.backward},
          {"calls", each.calls},
          {"time_ns", each.time.value}};
}

Json saving_json(const TimeSaving& saving) {
  return {{"settings", saving.settings},
          {"effect", saving.effect},
          {"step_time_ns", saving.step_time.value},
          {"exposed_communication_ns", saving.exposed.value},
          {"tokens_per_second", saving.tokens_per_second},
          {"peak", saving.peak.value},
          {"fits", fit_or_null(saving.fits)},
          {"comparison", saving.comparison}};
}

template <typename T, typename F>
Json list_of(const std::vector<T>& items, F to_json) {
  Json list = Json::array();
  for (const T& each : items) list.push_back(to_json(each));
  return list;
}

}  // namespace

Json explained_time_json(const ExplainedTime& time) {
  Json parts = Json::object();
  for (const Word<PathPart>& each : k_words<PathPart>)
    parts[std::string(each.text)] = time.parts[static_cast<std::size_t>(each.value)].value;
  return {{"scenario", time.scenario},
          {"rank", time.rank},
          {"step_time_ns", time.step_time.value},
          {"exposed_communication_ns", time.exposed.value},
          {"tokens_per_second", time.tokens_per_second},
          {"parts_ns", std::move(parts)},
          {"rows", list_of(time.rows, row_json)},
          {"operators", list_of(time.operators, operator_json)},
          {"peak", time.peak.value},
          {"fits", fit_or_null(time.fits)},
          {"settings", list_of(time.savings, saving_json)}};
}

}  // namespace shardlab
