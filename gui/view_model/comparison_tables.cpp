#include "gui/view_model/comparison_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/report/figures.h"
#include "engine/trace/metrics.h"

namespace shardlab::view {
namespace {

using Values = std::vector<std::optional<double>>;  // by run

std::optional<double> error_of(std::optional<double> value, std::optional<double> reference) {
  if (!value || !reference || (*reference == 0 && *value != 0)) return std::nullopt;
  return *reference == 0 ? 0 : *value / *reference - 1;
}

DataTable empty_table(std::string name, std::string first, std::string unit,
                      const std::vector<ComparedFigures>& runs, std::size_t reference) {
  DataTable table{std::move(name), {{std::move(first), "", false}}, {}};
  for (const ComparedFigures& run : runs) table.columns.push_back({title_of(*run.run), unit});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == reference) continue;
    const bool alone = runs.size() == 2;
    table.columns.push_back({alone ? "error" : "error of " + title_of(*runs[i].run), "fraction"});
  }
  return table;
}

Row row_of(std::string name, const Values& values, MetricUnit unit, std::size_t reference) {
  Row row;
  row.cells.push_back(text_cell(std::move(name)));
  for (const auto& value : values) {
    Cell cell{metric_figure(value, unit), value};
    if (!value) cell.tone = CellTone::faint;
    row.cells.push_back(std::move(cell));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != reference) row.cells.push_back(error_cell(error_of(values[i], values[reference])));
  }
  return row;
}

std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Largest in the reference first; what the reference lacks comes last.
void sort_by_reference(DataTable& table, std::size_t reference) {
  const std::vector<std::size_t> order = sorted_rows(table, reference + 1, true);
  std::vector<Row> rows;
  for (const std::size_t i : order) rows.push_back(std::move(table.rows[i]));
  table.rows = std::move(rows);
}

// Times of all instructions added up by a name; what has no name is left out.
template <typename NameOf>
DataTable grouped_times(DataTable table, const std::vector<ComparedFigures>& runs, std::size_t reference,
                        NameOf name_of) {
  std::map<std::string, Values> groups;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const StepPlan& plan = runs[run].run->plan();
    for (std::size_t i = 0; i < runs[run].instructions.size(); ++i) {
      const auto& figures = runs[run].instructions[i];
      const std::string name = name_of(plan, plan.instructions[i]);
      if (!figures || name.empty()) continue;
      Values& values = groups.try_emplace(name, runs.size()).first->second;
      values[run] = values[run].value_or(0) + static_cast<double>(figures->median.value);
    }
  }
  for (const auto& [name, values] : groups)
    table.rows.push_back(row_of(name, values, MetricUnit::nanoseconds, reference));
  sort_by_reference(table, reference);
  return table;
}

}  // namespace

DataTable totals_table(const std::vector<ComparedFigures>& runs, std::size_t reference) {
  DataTable table = empty_table("totals", "metric", "", runs, reference);
  struct Total {
    MetricUnit unit = MetricUnit::nanoseconds;
    Values values;
  };
  std::map<std::string, Total> totals;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    // A run against the reference gives both figures of every metric that either has.
    for (const Metric& metric :
         summary_metrics(runs[i].run->record.summary, runs[reference].run->record.summary, {})) {
      Total& total = totals.try_emplace(metric.name, Total{metric.unit, Values(runs.size())}).first->second;
      total.values[i] = metric.predicted;
      total.values[reference] = metric.measured;
    }
  }
  for (const std::string& name : metric_names()) {
    if (const auto found = totals.find(name); found != totals.end() && !name.starts_with("peak."))
      table.rows.push_back(row_of(with_spaces(name), found->second.values, found->second.unit, reference));
  }
  return table;
}

DataTable classes_table(const std::vector<ComparedFigures>& runs, std::size_t reference) {
  DataTable table = empty_table("memory-at-peak", "class", "bytes", runs, reference);
  for (std::size_t c = 0; c < k_buffer_classes; ++c) {
    Values values(runs.size());
    bool any = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto& memory = runs[i].run->record.summary.memory;
      if (!memory) continue;
      values[i] = static_cast<double>(memory->by_class[c].value);
      any = any || *values[i] > 0;
    }
    if (any)
      table.rows.push_back(
          row_of(with_spaces(to_string(static_cast<BufferClass>(c))), values, MetricUnit::bytes, reference));
  }
  sort_by_reference(table, reference);
  return table;
}

DataTable kinds_table(const std::vector<ComparedFigures>& runs, std::size_t reference) {
  return grouped_times(empty_table("time-by-kind", "instruction", "ns", runs, reference), runs, reference,
                       [](const StepPlan&, const Instruction& instruction) {
                         const bool timeless =
                             is_host_only(instruction.kind) && instruction.kind != InstructionKind::HostWait;
                         return timeless ? std::string() : std::string(to_string(instruction.kind));
                       });
}

DataTable units_table(const std::vector<ComparedFigures>& runs, std::size_t reference) {
  return grouped_times(
      empty_table("time-by-unit", "unit", "ns", runs, reference), runs, reference,
      [](const StepPlan& plan, const Instruction& instruction) {
        if (!instruction.unit || is_host_only(instruction.kind)) return std::string();
        const PlanUnit& unit = plan.units[instruction.unit->index()];
        return unit.module_path.empty() ? unit.name : fmt::format("{} ({})", unit.name, unit.module_path);
      });
}

}  // namespace shardlab::view
