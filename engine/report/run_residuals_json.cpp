#include "engine/report/run_residuals.h"

#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json rows_json(const std::vector<ResidualRow>& rows) {
  Json list = Json::array();
  for (const ResidualRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"runs", row.runs},
                    {"count", row.count},
                    {"predicted_ns", row.predicted.value},
                    {"measured_ns", row.measured.value},
                    {"bias", row.bias()},
                    {"median", row.median},
                    {"share", row.share}});
  }
  return list;
}

}  // namespace

Json residuals_json(const Residuals& residuals) {
  Json pairs = Json::array();
  for (const ResidualPair& pair : residuals.pairs) {
    pairs.push_back({{"predicted", to_string(pair.predicted)},
                     {"measured", to_string(pair.measured)},
                     {"name", pair.name},
                     {"calibrated", pair.calibrated},
                     {"predicted_step_ns", pair.predicted_step.value},
                     {"measured_step_ns", pair.measured_step.value}});
  }
  return {{"pairs", std::move(pairs)},
          {"kinds", rows_json(residuals.kinds)},
          {"parts", rows_json(residuals.parts)},
          {"operators", rows_json(residuals.operators)}};
}

}  // namespace shardlab
