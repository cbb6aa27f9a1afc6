#include "engine/report/run_difference.h"

#include <map>

#include "engine/base/with_spaces.h"
#include "engine/plan/imported_plan.h"
#include "engine/report/words/plan_words.h"
#include "engine/trace/known_classes.h"
#include "engine/trace/metrics.h"
#include "engine/trace/step_time.h"

namespace shardlab {
namespace {

constexpr std::string_view k_peak_of_class = "peak.";
constexpr std::string_view k_of_collectives = "communication.";

// A trace of others may not tell all collectives apart: of one that it has none of nothing is known.
std::optional<double> known_figure(const RunSummary& run, const Metric& metric, std::optional<double> value) {
  const bool unknown = !run.implementation && metric.name.starts_with(k_of_collectives) && value == 0.0;
  return unknown ? std::nullopt : value;
}

std::vector<DifferenceRow> totals_of(const RunSummary& first, const RunSummary& second) {
  std::vector<DifferenceRow> rows;
  for (const Metric& metric : summary_metrics(first, second, {})) {
    if (metric.name.starts_with(k_peak_of_class)) continue;
    rows.push_back({with_spaces(metric.name), metric.unit, known_figure(first, metric, metric.predicted),
                    known_figure(second, metric, metric.measured), metric.name});
  }
  return rows;
}

std::optional<double> of_class(const RunSummary& run, std::size_t its) {
  if (!run.memory || !knows_classes(run.memory->by_class)) return std::nullopt;
  return static_cast<double>(run.memory->by_class[its].value);
}

// The largest of the first run first, then what only the second has.
void sort(std::vector<DifferenceRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const DifferenceRow& a, const DifferenceRow& b) {
    return std::pair(a.first.value_or(0), a.second.value_or(0)) >
           std::pair(b.first.value_or(0), b.second.value_or(0));
  });
}

std::vector<DifferenceRow> classes_of(const RunSummary& first, const RunSummary& second) {
  std::vector<DifferenceRow> rows;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    DifferenceRow row{with_spaces(to_string(static_cast<BufferClass>(i))), MetricUnit::bytes,
                      of_class(first, i), of_class(second, i)};
    if (row.first.value_or(0) != 0 || row.second.value_or(0) != 0) rows.push_back(std::move(row));
  }
  sort(rows);
  return rows;
}

using Times = std::map<std::string, double>;  // nanoseconds

struct GroupedTimes {
  Times kinds, units;
};

GroupedTimes grouped_times(const AlternativeRun& run) {
  const PlanWords words(run.steady);
  const auto durations = median_durations(run.steady, run.trace.steps);
  GroupedTimes times;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const Instruction& self = run.steady.instructions[i];
    if (!durations[i]) continue;
    const auto time = static_cast<double>(durations[i]->value);
    if (!is_host_only(self.kind) || self.kind == InstructionKind::HostWait)
      times.kinds[std::string(to_string(self.kind))] += time;
    if (self.unit && !is_host_only(self.kind)) times.units[to_words(words.unit(*self.unit))] += time;
  }
  return times;
}

// What a plan has no instruction of took it no time (`absent`); beside an imported trace nobody knows.
std::vector<DifferenceRow> joined(const Times& first, const Times& second, std::optional<double> absent) {
  std::map<std::string, DifferenceRow> by_name;
  const auto row = [&](const std::string& name) -> DifferenceRow& {
    return by_name.try_emplace(name, DifferenceRow{name, MetricUnit::nanoseconds, absent, absent})
        .first->second;
  };
  for (const auto& [name, time] : first) row(name).first = time;
  for (const auto& [name, time] : second) row(name).second = time;
  std::vector<DifferenceRow> rows;
  for (auto& [name, each] : by_name)
    if (each.first.value_or(0) != 0 || each.second.value_or(0) != 0) rows.push_back(std::move(each));
  sort(rows);
  return rows;
}

}  // namespace

RunDifference difference_of(const AlternativeRun& first, const AlternativeRun& second) {
  const GroupedTimes a = grouped_times(first), b = grouped_times(second);
  const bool imported = is_imported(first.steady) || is_imported(second.steady) ||
                        first.trace.steps.empty() || second.trace.steps.empty();
  const std::optional<double> absent = imported ? std::nullopt : std::optional(0.0);
  return {totals_of(first.summary, second.summary), classes_of(first.summary, second.summary),
          joined(a.kinds, b.kinds, absent), joined(a.units, b.units, absent)};
}

}  // namespace shardlab
