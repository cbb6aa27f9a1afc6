#include "simulator/backtest/run_backtest.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/base/in_parallel.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/backtest/backtest_groups.h"
#include "simulator/backtest/error_bands.h"
#include "simulator/backtest/error_summary.h"
#include "simulator/backtest/published_figures.h"
#include "simulator/backtest/scenario_of_row.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

std::string source_name(const PublishedRun& run) {
  const std::string& source = run.cell("source_repo_or_paper");
  return source.substr(0, source.find(" ("));
}

BacktestRow row_of(const PublishedRun& run, const RowScenario& scenario, const std::string& figure) {
  BacktestRow row;
  row.id = run.cell("id");
  row.source = source_name(run);
  row.series = scenario.series.empty() ? row.source : scenario.series;
  row.figure = figure;
  row.nearest = scenario.nearest;
  row.rules = scenario.rules;
  row.ran_out_of_memory = run.ran_out_of_memory();
  row.reason = scenario.reason;
  return row;
}

// The first thing that is wrong, without a place in a text that nobody has seen.
std::string reason_of(const Error& error) {
  const Error& first = error.parts.empty() ? error : error.parts.front();
  return first.place.name.empty() ? first.what : first.place.name + ": " + first.what;
}

// A row that can be expressed, with what was predicted of it.
void fill_in(BacktestRow& row, const PublishedFigure& published, const RunSummary& summary) {
  row.predicted = predicted_figure(summary, published.figure);
  if (row.predicted)
    row.error = *row.predicted / published.value - 1;
  else
    row.reason = published.figure + " is not predicted";
}

std::vector<BacktestRow> rows_of(const PublishedRun& run, const std::vector<SourceRule>& rules,
                                 const BacktestSettings& settings) {
  std::vector<PublishedFigure> figures = published_figures(run, settings.metric);
  const bool failed = run.ran_out_of_memory();
  if (figures.empty() && !failed) return {};
  RowScenario scenario = scenario_of_row(run, rules, settings.metric);
  std::optional<RunSummary> summary;
  if (scenario.reason.empty()) {
    auto predicted = predict_row(scenario.yaml, run.cell("id"), settings);
    if (predicted)
      summary = *std::move(predicted);
    else
      scenario.reason = reason_of(predicted.error());
  }
  if (figures.empty()) figures.push_back({"", "", 0});
  if (!scenario.nearest.empty()) scenario.kinds.emplace_back("nearest");
  std::vector<BacktestRow> rows;
  for (const PublishedFigure& published : figures) {
    BacktestRow row = row_of(run, scenario, published.figure);
    row.groups = backtest_groups(run, row.source, published.kind, scenario.kinds);
    if (!published.figure.empty()) row.published = published.value;
    if (summary) {
      row.expressible = true;
      row.fits = summary->fits;
      if (!published.figure.empty()) fill_in(row, published, *summary);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<RunSummary> predict_row(const std::string& yaml, const std::string& name,
                               const BacktestSettings& settings) {
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(yaml, name + ".yaml", settings.settings));
  SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(scenario));
  SHARDLAB_TRY(Device device, resolve_device(*planned.scenario.cluster));
  device.older_libraries = true;
  std::optional<Calibration> calibration;
  // A calibration of a GPU measured torch 2.11's libraries.
  if (settings.calibration_for && device.kind != DeviceKind::gpu) {
    SHARDLAB_TRY(calibration, settings.calibration_for(planned.scenario));
  }
  SHARDLAB_TRY(const RunTrace trace,
               simulate({planned, device, calibration ? &*calibration : nullptr}, HashedPlans::left_out));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  return summarize(planned, trace, limits, HashedPlans::left_out);
}

Backtest run_backtest(const PublishedTable& table, const std::vector<SourceRule>& rules,
                      const BacktestSettings& settings) {
  const int count = static_cast<int>(table.runs.size());
  std::vector<std::vector<BacktestRow>> by_run(table.runs.size());
  std::mutex progress;
  int done = 0;
  in_parallel(table.runs.size(), settings.threads, [&](std::size_t at) {
    by_run[at] = rows_of(table.runs[at], rules, settings);
    const std::scoped_lock lock(progress);
    ++done;
    if (settings.progress) settings.progress(done, count);
  });
  Backtest backtest;
  backtest.metric = settings.metric;
  backtest.table = table.name;
  backtest.settings = settings.settings;
  for (std::vector<BacktestRow>& rows : by_run)
    backtest.rows.insert(backtest.rows.end(), std::make_move_iterator(rows.begin()),
                         std::make_move_iterator(rows.end()));
  backtest.has_bands = settings.leave_one_source_out;
  backtest.band_part = settings.band_part;
  if (backtest.has_bands) backtest.within_bands = set_bands(backtest.rows, settings.band_part);
  add_up(backtest);
  return backtest;
}

void add_up(Backtest& backtest) {
  backtest.summary = summarize_errors(backtest.rows);
  backtest.verdicts = count_verdicts(backtest.rows);
}

}  // namespace shardlab
