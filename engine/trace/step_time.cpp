#include "engine/trace/step_time.h"

#include <algorithm>

namespace shardlab {

Nanoseconds step_time(const StepTrace& step) {
  std::optional<Nanoseconds> first, last;
  const auto extend = [&](Nanoseconds begin, Nanoseconds end) {
    first = first ? std::min(*first, begin) : begin;
    last = last ? std::max(*last, end) : end;
  };
  for (const RankTrace& rank : step.ranks) {
    if (rank.spans.empty()) extend(rank.start_offset, rank.start_offset + rank.duration);
    for (const Span& span : rank.spans) extend(rank.start_offset + span.issue, rank.start_offset + span.end);
  }
  return first ? *last - *first : Nanoseconds{};
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const Nanoseconds below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

std::vector<std::optional<Nanoseconds>> median_durations(const StepPlan& plan,
                                                         std::span<const StepTrace> steps) {
  std::vector<std::vector<Nanoseconds>> durations(plan.instructions.size());
  for (const StepTrace& step : steps) {
    for (const RankTrace& rank : step.ranks) {
      for (const Span& span : rank.spans) {
        if (!span.skipped) durations[span.instruction.index()].push_back(span.end - span.start);
      }
    }
  }
  std::vector<std::optional<Nanoseconds>> medians(durations.size());
  for (std::size_t i = 0; i < durations.size(); ++i) {
    if (!durations[i].empty()) medians[i] = median(std::move(durations[i]));
  }
  return medians;
}

}  // namespace shardlab
