// Which instructions a prediction got most wrong, and what the traces say about why.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gui/view_model/comparison_tables.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

constexpr std::size_t k_listed = 50;

struct Difference {
  std::size_t run = 0;
  std::size_t instruction = 0;
  Nanoseconds difference;
};

std::string times_text(double ratio) {
  return ratio >= 1 ? fmt::format("{:.2g} times as long", ratio) : fmt::format("{:.2g} of the time", ratio);
}

// The first of these that explains more than half of the difference: ranks that arrive late, repetitions that
// differ among themselves; else the two really disagree about the work.
std::string reason_for(const LoadedRun& run, const ComparedFigures& compared_with, InstructionKind kind,
                       const InstructionFigures& mine, const InstructionFigures& theirs) {
  const LoadedRun& reference = *compared_with.run;
  const Nanoseconds difference = mine.median - theirs.median;
  const Nanoseconds half{std::abs(difference.value) / 2};
  if (is_collective(kind) && difference.value < 0 && theirs.arrival > half) {
    return fmt::format(
        "ranks of {} start it up to {} apart; a collective's span includes waiting for the last",
        compared_with.title, to_string(theirs.arrival));
  }
  if (theirs.n > 1 && theirs.least <= mine.median && mine.median <= theirs.most) {
    return fmt::format("within the spread of {}: {} to {} over {} spans", compared_with.title,
                       to_string(theirs.least), to_string(theirs.most), theirs.n);
  }
  const double ratio = static_cast<double>(mine.median.value) / static_cast<double>(theirs.median.value);
  const std::string outside =
      theirs.n > 1 ? fmt::format(", outside {} to {}", to_string(theirs.least), to_string(theirs.most)) : "";
  if (run.kind() == RunKind::measured) return fmt::format("took {}{}", times_text(ratio), outside);
  if (reference.kind() == RunKind::predicted) return fmt::format("two predictions: {}", times_text(ratio));
  return fmt::format(
      "the cost model says {}{}{}", times_text(ratio), outside,
      run.record.trace.provenance.calibrated ? "" : "; it was not calibrated for this machine");
}

std::vector<Difference> largest(const std::vector<ComparedFigures>& runs, std::size_t reference,
                                const std::vector<std::size_t>& joined) {
  std::vector<Difference> found;
  const StepPlan& plan = runs[reference].run->plan();
  for (const std::size_t run : joined) {
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
      const auto &mine = runs[run].instructions[i], &theirs = runs[reference].instructions[i];
      if (!mine || !theirs || theirs->median.value <= 0 || mine->median == theirs->median) continue;
      found.push_back({run, i, mine->median - theirs->median});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Difference& a, const Difference& b) {
    return std::abs(a.difference.value) > std::abs(b.difference.value);
  });
  found.resize(std::min(found.size(), k_listed));
  return found;
}

Meaning time_meaning(const std::string& whose) {
  return {"the median of the instruction's spans in " + whose + ", over steps and ranks", "the runs' traces"};
}

std::vector<Column> worst_columns(const ComparedRuns& compared, std::size_t reference) {
  std::vector<Column> columns = {{"instruction", "", false}};
  if (compared->size() > 2) columns.push_back({"run", "", false});
  columns.push_back({"this run", "ns", true, time_meaning("the run that is not the reference")});
  columns.push_back({"reference", "ns", true, time_meaning((*compared)[reference].title)});
  columns.push_back({"difference", "ns", true, {"this run less the reference", "this table"}});
  columns.push_back(
      {"error", "fraction", true, {"this run divided by the reference, less one", "this table"}});
  columns.push_back({"why", "", false});
  return columns;
}

// Explains a row, whose key is the run. `first` is the column of the run's own time; the reference, the
// difference and the error follow it.
void explain_worst(const DataTable& table, std::size_t row, std::size_t column, std::size_t first,
                   const ComparedRuns& compared, std::size_t reference, Why& why) {
  if (column < first || column > first + 3) return;
  if (column >= first + 2) {
    why.arithmetic = column == first + 2 ? Arithmetic::difference : Arithmetic::error;
    why.parts = {part_of(table, row, first), part_of(table, row, first + 1)};
    return;
  }
  const std::size_t run = column == first ? static_cast<std::size_t>(table.rows[row].key) : reference;
  why = why_time(*(*compared)[run].run, *table.rows[row].instruction);
}

}  // namespace

DataTable worst_table(const ComparedRuns& compared, std::size_t reference,
                      const std::vector<std::size_t>& joined) {
  const std::vector<ComparedFigures>& runs = *compared;
  DataTable table{"worst-instructions", worst_columns(compared, reference), {}};
  const std::size_t first = runs.size() > 2 ? 2 : 1;
  table.explain = [compared, reference, first](const DataTable& its, std::size_t row, std::size_t column,
                                               Why& why) {
    explain_worst(its, row, column, first, compared, reference, why);
  };
  const ComparedFigures& base = runs[reference];
  for (const Difference& each : largest(runs, reference, joined)) {
    const LoadedRun& run = *runs[each.run].run;
    const InstructionFigures mine = *runs[each.run].instructions[each.instruction];
    const InstructionFigures theirs = *base.instructions[each.instruction];
    const auto id = make_id<InstructionId>(each.instruction);
    Row row;
    row.instruction = id;
    row.key = static_cast<std::int64_t>(each.run);
    row.cells.push_back(text_cell(label_of(*base.run, id)));
    if (runs.size() > 2) row.cells.push_back(text_cell(runs[each.run].title));
    row.cells.push_back(time_cell(mine.median));
    row.cells.push_back(time_cell(theirs.median));
    row.cells.push_back(time_cell(each.difference));
    row.cells.push_back(
        error_cell(static_cast<double>(each.difference.value) / static_cast<double>(theirs.median.value)));
    row.cells.push_back(
        text_cell(reason_for(run, base, base.run->plan().instruction(id).kind, mine, theirs)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace shardlab::view
