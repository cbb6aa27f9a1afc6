#include <nlohmann/json.hpp>

#include "engine/report/backtest_report.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_json(const BacktestRow& row, BacktestMetric metric) {
  Json groups = Json::array();
  for (const BacktestGroup& group : row.groups) groups.push_back({{"by", group.by}, {"key", group.key}});
  return {{"id", row.id},
          {"source", row.source},
          {"series", row.series},
          {"metric", to_string(metric)},
          {"figure", row.figure.empty() ? Json(nullptr) : Json(row.figure)},
          {"published", number_or_null(row.published)},
          {"predicted", number_or_null(row.predicted)},
          {"low", number_or_null(row.low)},
          {"high", number_or_null(row.high)},
          {"error", number_or_null(row.error)},
          {"expressible", row.expressible},
          {"reason", row.reason},
          {"nearest", row.nearest},
          {"rules", row.rules},
          {"ran_out_of_memory", row.ran_out_of_memory},
          {"fits", row.fits ? Json(to_string(*row.fits)) : Json(nullptr)},
          {"groups", std::move(groups)}};
}

Json summary_json(const BacktestSummary& summary, BacktestMetric metric) {
  const auto error = [&](double value) { return summary.n > 0 ? Json(value) : Json(nullptr); };
  return {{"by", summary.by},
          {"key", summary.key},
          {"metric", to_string(metric)},
          {"rows", summary.rows},
          {"expressible", summary.expressible},
          {"n", summary.n},
          {"median", error(summary.median)},
          {"mean", error(summary.mean)},
          {"p90", error(summary.p90)},
          {"worst", error(summary.worst)},
          {"bias", error(summary.bias)},
          {"banded", summary.banded},
          {"in_band", summary.in_band}};
}

template <std::size_t N>
Json counts_json(const std::array<int, N>& counts) {
  Json json = Json::object();
  for (const Word<Fit>& word : k_words<Fit>)
    json[std::string(word.text)] = counts[static_cast<std::size_t>(word.value)];
  return json;
}

}  // namespace

Json backtest_json(const Backtest& backtest) {
  Json rows = Json::array();
  for (const BacktestRow& row : backtest.rows) rows.push_back(row_json(row, backtest.metric));
  Json summary = Json::array();
  for (const BacktestSummary& each : backtest.summary) summary.push_back(summary_json(each, backtest.metric));
  return {{"metric", to_string(backtest.metric)},
          {"table", backtest.table},
          {"settings", backtest.settings},
          {"leave_one_source_out", backtest.has_bands},
          {"band_part", backtest.band_part},
          {"within_bands", number_or_null(backtest.within_bands)},
          {"verdicts",
           {{"ran", counts_json(backtest.verdicts.ran)},
            {"ran_out_of_memory", counts_json(backtest.verdicts.ran_out_of_memory)}}},
          {"summary", std::move(summary)},
          {"rows", std::move(rows)}};
}

}  // namespace shardlab
