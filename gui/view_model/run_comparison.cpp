#include "gui/view_model/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/formats/profiler/import_profile.h"
#include "gui/view_model/comparison_tables.h"
#include "gui/view_model/run_titles.h"

namespace shardlab::view {
namespace {

// The plan's hash alone does not say that two records describe it alike: a trace of another one is no match.
bool same_plan(const ComparedFigures& a, const ComparedFigures& b) {
  return a.run->record.summary.plan_hash == b.run->record.summary.plan_hash &&
         a.instructions.size() == b.instructions.size();
}

void add_points(RunComparison& comparison, const std::vector<ComparedFigures>& runs, std::size_t index) {
  const ComparedFigures &run = runs[index], &reference = runs[comparison.reference];
  const StepPlan& plan = reference.run->plan();
  for (std::size_t i = 0; i < run.instructions.size(); ++i) {
    const auto &mine = run.instructions[i], &theirs = reference.instructions[i];
    if (!mine || !theirs || theirs->median.value <= 0 || is_host_only(plan.instructions[i].kind)) continue;
    const double error =
        static_cast<double>(mine->median.value) / static_cast<double>(theirs->median.value) - 1;
    comparison.points.push_back(
        {index, make_id<InstructionId>(i), plan.instructions[i].kind, mine->median, theirs->median, error});
  }
}

std::string note_on_plans(const std::vector<ComparedFigures>& runs, std::size_t reference) {
  std::string others;
  int count = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (same_plan(runs[i], runs[reference])) continue;
    others += fmt::format("{}{}", others.empty() ? "" : "; ", runs[i].title);
    ++count;
  }
  if (others.empty()) return {};
  const bool imported = std::any_of(runs.begin(), runs.end(), [](const ComparedFigures& run) {
    return run.run->plan().strategy == k_imported_strategy;
  });
  if (imported)
    return fmt::format(
        "{} beside {}: a profiler's trace has kernels, not the instructions of a plan. "
        "Totals, memory and the time by kind compare; instructions do not correspond",
        others, runs[reference].title);
  return fmt::format("{} follow{} another plan than {}: their instructions do not correspond", others,
                     count == 1 ? "s" : "", runs[reference].title);
}

}  // namespace

std::size_t choose_reference(const std::vector<LoadedRunPtr>& runs) {
  const auto measured = std::find_if(
      runs.begin(), runs.end(), [](const LoadedRunPtr& run) { return run->kind() == RunKind::measured; });
  if (measured != runs.end()) return static_cast<std::size_t>(measured - runs.begin());
  const auto baseline =
      std::find_if(runs.begin(), runs.end(), [](const LoadedRunPtr& run) { return run->role == "baseline"; });
  return baseline == runs.end() ? 0 : static_cast<std::size_t>(baseline - runs.begin());
}

RunComparison compare_runs(const std::vector<LoadedRunPtr>& runs, std::size_t reference) {
  RunComparison comparison;
  comparison.reference = reference;
  auto made = std::make_shared<std::vector<ComparedFigures>>();
  comparison.titles = titles_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    made->push_back({runs[i], comparison.titles[i], instruction_figures(*runs[i])});
  const ComparedRuns compared = made;
  const std::vector<ComparedFigures>& figures = *compared;
  comparison.totals = totals_table(compared, reference);
  comparison.classes = classes_table(compared, reference);
  comparison.kinds = kinds_table(compared, reference);
  comparison.units = units_table(compared, reference);
  std::vector<std::size_t> joined;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (i == reference || !same_plan(figures[i], figures[reference])) continue;
    add_points(comparison, figures, i);
    joined.push_back(i);
  }
  comparison.worst = worst_table(compared, reference, joined);
  comparison.note = note_on_plans(figures, reference);
  return comparison;
}

}  // namespace shardlab::view
