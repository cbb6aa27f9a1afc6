#include "gui/view_model/instruction_figures.h"

#include <algorithm>

#include "engine/trace/exposed_communication.h"
#include "engine/trace/step_time.h"

namespace shardlab::view {
namespace {

struct Collected {
  std::vector<Nanoseconds> durations;
  std::vector<Nanoseconds> arrivals;  // by step
};

// First and last start of each instruction in one step.
void add_step(std::vector<Collected>& all, const StepTrace& step) {
  std::vector<std::optional<TimeInterval>> starts(all.size());
  for (const RankTrace& rank : step.ranks) {
    for (const Span& span : rank.spans) {
      const std::size_t id = span.instruction.index();
      if (span.skipped || id >= all.size()) continue;
      all[id].durations.push_back(span.end - span.start);
      const Nanoseconds start = span.start + rank.start_offset;
      if (!starts[id]) starts[id] = TimeInterval{start, start};
      starts[id] = TimeInterval{std::min(starts[id]->begin, start), std::max(starts[id]->end, start)};
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (starts[i]) all[i].arrivals.push_back(starts[i]->end - starts[i]->begin);
  }
}

std::optional<InstructionFigures> figures_of(Collected& each) {
  if (each.durations.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(each.durations.begin(), each.durations.end());
  return InstructionFigures{median(each.durations), *least, *most, median(each.arrivals),
                            static_cast<int>(each.durations.size())};
}

}  // namespace

std::vector<std::optional<InstructionFigures>> instruction_figures(const LoadedRun& run) {
  std::vector<Collected> all(run.plan().instructions.size());
  for (const StepTrace& step : run.record.trace.steps) {
    if (step.plan_hash == run.record.summary.plan_hash) add_step(all, step);
  }
  std::vector<std::optional<InstructionFigures>> figures;
  figures.reserve(all.size());
  for (Collected& each : all) figures.push_back(figures_of(each));
  return figures;
}

}  // namespace shardlab::view
