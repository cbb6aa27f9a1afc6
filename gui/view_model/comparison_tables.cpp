#include "gui/view_model/comparison_tables.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "engine/base/with_spaces.h"
#include "engine/report/figures.h"
#include "engine/report/run_difference.h"
#include "engine/store/judged_pair.h"
#include "engine/trace/known_classes.h"
#include "engine/trace/metrics.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

using Values = std::vector<std::optional<double>>;  // by run

std::optional<double> error_of(std::optional<double> value, std::optional<double> reference) {
  if (!value || !reference || (*reference == 0 && *value != 0)) return std::nullopt;
  return *reference == 0 ? 0 : *value / *reference - 1;
}

// Whether what lies between a run and the reference is an error; of times only where they are a measurement.
bool is_judged(const ComparedFigures& run, const ComparedFigures& reference, MetricUnit unit) {
  const RunRecord &one = run.run->record, &other = reference.run->record;
  return is_judged_pair(one, other) &&
         (unit == MetricUnit::bytes || reason_not_to_judge_times(one, other).empty());
}

// Adds to a Why what is known of a row's figure in one run.
using ExplainRun = std::function<void(const ComparedFigures& run, const Row& row, Why& why)>;

// Columns of errors follow those of the runs, in their order, without the reference's.
std::size_t run_of_error(std::size_t column, std::size_t runs, std::size_t reference) {
  const std::size_t run = column - runs - 1;
  return run < reference ? run : run + 1;
}

void explain_error(const DataTable& table, std::size_t row, std::size_t run, std::size_t reference,
                   Why& why) {
  why.arithmetic = Arithmetic::error;
  why.parts = {part_of(table, row, run + 1), part_of(table, row, reference + 1)};
}

struct TableHead {
  std::string name;     // of the CSV
  std::string first;    // title of the column of names
  std::string unit;     // of the runs' numbers
  std::string formula;  // of the runs' numbers
};

// `unit`: of what the table judges.
DataTable empty_table(TableHead head, MetricUnit unit, const ComparedRuns& compared, std::size_t reference,
                      ExplainRun explain_run) {
  const std::vector<ComparedFigures>& runs = *compared;
  DataTable table{std::move(head.name), {{std::move(head.first), "", false}}, {}};
  for (const ComparedFigures& run : runs)
    table.columns.push_back({run.title, head.unit, true, {head.formula, source_of(*run.run)}});
  const std::string& base = runs[reference].title;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == reference) continue;
    const std::string& title = runs[i].title;
    const std::string word = is_judged(runs[i], runs[reference], unit) ? "error" : "difference";
    table.columns.push_back({runs.size() == 2 ? word : word + " of " + title,
                             "fraction",
                             true,
                             {fmt::format("{} divided by {}, less one", title, base), "this table"}});
  }
  table.explain = [compared, reference, explain_run = std::move(explain_run)](
                      const DataTable& its, std::size_t row, std::size_t column, Why& why) {
    const std::size_t count = compared->size();
    if (column > count)
      return explain_error(its, row, run_of_error(column, count, reference), reference, why);
    if (column > 0) explain_run((*compared)[column - 1], its.rows[row], why);
  };
  return table;
}

Cell difference_cell(std::optional<double> value, std::optional<double> reference) {
  if (!value || !reference) return text_cell("-", CellTone::faint);
  return {difference_words({"", MetricUnit::nanoseconds, reference, value}), error_of(value, reference)};
}

Row row_of(std::string name, const Values& values, MetricUnit unit, const std::vector<ComparedFigures>& runs,
           std::size_t reference) {
  Row row;
  row.cells.push_back(text_cell(std::move(name)));
  for (const auto& value : values) {
    Cell cell{metric_figure(value, unit), value};
    if (!value) cell.tone = CellTone::faint;
    row.cells.push_back(std::move(cell));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == reference) continue;
    row.cells.push_back(is_judged(runs[i], runs[reference], unit)
                            ? error_cell(error_of(values[i], values[reference]))
                            : difference_cell(values[i], values[reference]));
  }
  return row;
}

// Largest in the reference first; what the reference lacks comes last.
void sort_by_reference(DataTable& table, std::size_t reference) {
  const std::vector<std::size_t> order = sorted_rows(table, reference + 1, true);
  std::vector<Row> rows;
  for (const std::size_t i : order) rows.push_back(std::move(table.rows[i]));
  table.rows = std::move(rows);
}

// The name of the group that an instruction belongs to; empty: of none.
using NameOf = std::string (*)(const LoadedRun&, const Instruction&);

// The longest of a group, and the rest in one part.
void explain_group(const ComparedFigures& run, const std::string& group, NameOf name_of, Why& why) {
  constexpr std::size_t k_listed = 8;
  const StepPlan& plan = run.run->plan();
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < run.instructions.size(); ++i)
    if (run.instructions[i] && name_of(*run.run, plan.instructions[i]) == group) members.push_back(i);
  std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
    return run.instructions[a]->median > run.instructions[b]->median;
  });
  why.arithmetic = Arithmetic::sum;
  Nanoseconds rest;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Nanoseconds time = run.instructions[members[i]]->median;
    if (i >= k_listed) {
      rest += time;
      continue;
    }
    const auto id = make_id<InstructionId>(members[i]);
    why.parts.push_back({label_of(*run.run, id), to_string(time), id, static_cast<double>(time.value)});
  }
  if (members.size() > k_listed)
    why.parts.push_back({fmt::format("{} others", members.size() - k_listed),
                         to_string(rest),
                         {},
                         static_cast<double>(rest.value)});
}

// Times of all instructions added up by a name; what has no name is left out.
DataTable grouped_times(TableHead head, const ComparedRuns& compared, std::size_t reference, NameOf name_of) {
  const std::vector<ComparedFigures>& runs = *compared;
  head.formula = "the medians over steps and ranks of the instructions of this row, added up";
  DataTable table = empty_table(std::move(head), MetricUnit::nanoseconds, compared, reference,
                                [name_of](const ComparedFigures& run, const Row& row, Why& why) {
                                  explain_group(run, row.cells.front().text, name_of, why);
                                });
  std::map<std::string, Values> groups;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const StepPlan& plan = runs[run].run->plan();
    for (std::size_t i = 0; i < runs[run].instructions.size(); ++i) {
      const auto& figures = runs[run].instructions[i];
      const std::string name = name_of(*runs[run].run, plan.instructions[i]);
      if (!figures || name.empty()) continue;
      Values& values = groups.try_emplace(name, runs.size()).first->second;
      values[run] = values[run].value_or(0) + static_cast<double>(figures->median.value);
    }
  }
  for (const auto& [name, values] : groups)
    table.rows.push_back(row_of(name, values, MetricUnit::nanoseconds, runs, reference));
  sort_by_reference(table, reference);
  return table;
}

void explain_metric(const ComparedFigures& run, const std::string& metric, Why& why) {
  if (auto own = why_metric(*run.run, metric)) {
    why = *std::move(own);
    return;
  }
  if (const auto meaning = metric_meaning(metric)) why.formula = meaning->formula;
  why.notes.push_back("this run has no such figure");
}

// What occupies the device or the network; a wait of the host besides.
std::string kind_name(const LoadedRun&, const Instruction& instruction) {
  const bool timeless = is_host_only(instruction.kind) && instruction.kind != InstructionKind::HostWait;
  return timeless ? std::string() : std::string(to_string(instruction.kind));
}

// In words: names of units mean nothing to another plan. Those of a trace are kernels.
std::string unit_name(const LoadedRun& run, const Instruction& instruction) {
  if (!instruction.unit || is_host_only(instruction.kind)) return {};
  const PlanUnit& unit = run.plan().units[instruction.unit->index()];
  return unit.module_path == unit.name ? unit.name : to_words(run.words().unit(*instruction.unit));
}

}  // namespace

DataTable totals_table(const ComparedRuns& compared, std::size_t reference) {
  const std::vector<ComparedFigures>& runs = *compared;
  const std::vector<std::string> names = metric_names();
  DataTable table =
      empty_table({"totals", "metric", "", "a figure of the whole run"}, MetricUnit::nanoseconds, compared,
                  reference, [names](const ComparedFigures& run, const Row& row, Why& why) {
                    explain_metric(run, names[static_cast<std::size_t>(row.key)], why);
                  });
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
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = totals.find(names[i]);
    if (found == totals.end() || names[i].starts_with("peak.")) continue;
    table.rows.push_back(
        row_of(with_spaces(names[i]), found->second.values, found->second.unit, runs, reference));
    table.rows.back().key = static_cast<std::int64_t>(i);
    for (std::size_t run = 0; run < runs.size(); ++run)
      table.rows.back().cells[run + 1].text =
          metric_figure(names[i], found->second.values[run], found->second.unit);
  }
  return table;
}

DataTable classes_table(const ComparedRuns& compared, std::size_t reference) {
  const std::vector<ComparedFigures>& runs = *compared;
  DataTable table =
      empty_table({"memory-at-peak", "class", "bytes", "bytes of this class at the peak"}, MetricUnit::bytes,
                  compared, reference, [](const ComparedFigures& run, const Row& row, Why& why) {
                    const auto its = static_cast<BufferClass>(row.key);
                    explain_metric(run, "peak." + std::string(to_string(its)), why);
                  });
  for (std::size_t c = 0; c < k_buffer_classes; ++c) {
    Values values(runs.size());
    bool any = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto& memory = runs[i].run->record.summary.memory;
      if (!memory || !knows_classes(memory->by_class)) continue;
      values[i] = static_cast<double>(memory->by_class[c].value);
      any = any || *values[i] > 0;
    }
    if (!any) continue;
    table.rows.push_back(row_of(with_spaces(to_string(static_cast<BufferClass>(c))), values,
                                MetricUnit::bytes, runs, reference));
    table.rows.back().key = static_cast<std::int64_t>(c);
  }
  sort_by_reference(table, reference);
  return table;
}

DataTable kinds_table(const ComparedRuns& compared, std::size_t reference) {
  return grouped_times({"time-by-kind", "instruction", "ns", {}}, compared, reference, kind_name);
}

DataTable units_table(const ComparedRuns& compared, std::size_t reference) {
  return grouped_times({"time-by-unit", "unit", "ns", {}}, compared, reference, unit_name);
}

}  // namespace shardlab::view
