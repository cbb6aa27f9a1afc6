#include "gui/view_model/loaded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/trace/step_time.h"

namespace shardlab::view {

std::string title_of(const LoadedRun& run) {
  return fmt::format("{} {}", run.id ? to_string(*run.id) : run.record.name, to_string(run.kind()));
}

const StepTrace* typical_step(const LoadedRun& run) {
  std::vector<const StepTrace*> steps;
  for (const StepTrace& step : run.record.trace.steps) steps.push_back(&step);
  if (steps.empty()) return nullptr;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepTrace* a, const StepTrace* b) { return step_time(*a) < step_time(*b); });
  return steps[(steps.size() - 1) / 2];
}

const RankTrace* rank_of(const StepTrace& step, int rank) {
  const auto found = std::find_if(step.ranks.begin(), step.ranks.end(),
                                  [rank](const RankTrace& candidate) { return candidate.rank == rank; });
  if (found != step.ranks.end()) return &*found;
  return step.ranks.empty() ? nullptr : &step.ranks.front();
}

}  // namespace shardlab::view
