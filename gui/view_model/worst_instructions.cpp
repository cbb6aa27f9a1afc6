// Which instructions a prediction got most wrong, and what the traces say about why.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gui/view_model/comparison_tables.h"

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
std::string reason_for(const LoadedRun& run, const LoadedRun& reference, InstructionKind kind,
                       const InstructionFigures& mine, const InstructionFigures& theirs) {
  const Nanoseconds difference = mine.median - theirs.median;
  const Nanoseconds half{std::abs(difference.value) / 2};
  if (is_collective(kind) && difference.value < 0 && theirs.arrival > half) {
    return fmt::format(
        "ranks of {} start it up to {} apart; a collective's span includes waiting for the last",
        title_of(reference), to_string(theirs.arrival));
  }
  if (theirs.n > 1 && theirs.least <= mine.median && mine.median <= theirs.most) {
    return fmt::format("within the spread of {}: {} to {} over {} spans", title_of(reference),
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

}  // namespace

DataTable worst_table(const std::vector<ComparedFigures>& runs, std::size_t reference,
                      const std::vector<std::size_t>& joined) {
  DataTable table{"worst-instructions", {{"instruction", "", false}}, {}};
  if (runs.size() > 2) table.columns.push_back({"run", "", false});
  for (const char* title : {"this run", "reference", "difference"}) table.columns.push_back({title, "ns"});
  table.columns.push_back({"error", "fraction"});
  table.columns.push_back({"why", "", false});
  const ComparedFigures& base = runs[reference];
  for (const Difference& each : largest(runs, reference, joined)) {
    const LoadedRun& run = *runs[each.run].run;
    const InstructionFigures mine = *runs[each.run].instructions[each.instruction];
    const InstructionFigures theirs = *base.instructions[each.instruction];
    const auto id = make_id<InstructionId>(each.instruction);
    Row row;
    row.instruction = id;
    row.cells.push_back(text_cell(instruction_label(base.run->plan(), id)));
    if (runs.size() > 2) row.cells.push_back(text_cell(title_of(run)));
    row.cells.push_back(time_cell(mine.median));
    row.cells.push_back(time_cell(theirs.median));
    row.cells.push_back(time_cell(each.difference));
    row.cells.push_back(
        error_cell(static_cast<double>(each.difference.value) / static_cast<double>(theirs.median.value)));
    row.cells.push_back(
        text_cell(reason_for(run, *base.run, base.run->plan().instruction(id).kind, mine, theirs)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace shardlab::view
