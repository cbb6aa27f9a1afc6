#include "engine/cli/difference_json.h"

#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Null where there is nothing to divide by, or nothing to divide.
Json relative(const DifferenceRow& row) {
  if (!row.first || !row.second || (*row.first == 0 && *row.second != 0)) return nullptr;
  return *row.first == 0 ? 0.0 : *row.second / *row.first - 1;
}

Json rows_json(const std::vector<DifferenceRow>& rows) {
  Json list = Json::array();
  for (const DifferenceRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"first", or_null(row.first)},
                    {"second", or_null(row.second)},
                    {"difference", relative(row)},
                    {"in_words", difference_words(row)}});
  }
  return list;
}

}  // namespace

Json settings_json(const std::vector<SettingDifference>& settings) {
  Json list = Json::array();
  for (const SettingDifference& each : settings)
    list.push_back({{"key", each.key}, {"first", each.first}, {"second", each.second}});
  return list;
}

Json difference_json(const RunDifference& difference) {
  return {{"totals", rows_json(difference.totals)},
          {"memory", rows_json(difference.memory)},
          {"kinds", rows_json(difference.kinds)},
          {"units", rows_json(difference.units)}};
}

}  // namespace shardlab
