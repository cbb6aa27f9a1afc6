#include "simulator/core/timeline.h"

#include <algorithm>
#include <cmath>

#include "simulator/core/rank_timeline.h"

namespace shardlab {
namespace {

bool uses_what_there_is(const TimelineOptions& options, const TimedInstruction& instruction) {
  return std::all_of(instruction.uses.begin(), instruction.uses.end(), [&](const ResourceUse& use) {
    return use.resource < options.resources && use.share > 0 && use.share <= k_full_share;
  });
}

}  // namespace

Status check_timeline(const TimelineOptions& options, std::span<const TimedInstruction> instructions) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const TimedInstruction& instruction = instructions[i];
    const bool in_range =
        instruction.stream < options.streams &&
        (instruction.occupation != Occupation::collective || instruction.group < options.groups);
    if (!in_range)
      return internal_error("run_timeline",
                            "instruction " + std::to_string(i) + " has an unknown stream or group");
    if (!uses_what_there_is(options, instruction)) {
      return internal_error(
          "run_timeline",
          "instruction " + std::to_string(i) + " takes of a resource that there is not, or not a part of it");
    }
    for (const InstructionId wait : instruction.waits) {
      if (wait.index() >= i) {
        return internal_error("run_timeline", "instruction " + std::to_string(i) + " waits for a later one");
      }
    }
  }
  return {};
}

std::int64_t contention_rate(double fraction) {
  return std::llround(std::clamp(fraction, 0.01, 1.0) * static_cast<double>(Contention::full));
}

Result<std::vector<Span>> run_timeline(const TimelineOptions& options,
                                       std::span<const TimedInstruction> instructions,
                                       std::vector<RunningPeriod>* periods) {
  SHARDLAB_CHECK_OK(check_timeline(options, instructions));
  const TimelineShape shape = shape_of(options, instructions);
  RankTimeline timeline(options, shape, instructions, {}, {}, periods);
  while (true) {
    timeline.settle();
    const std::int64_t next = timeline.next_event();
    if (next == RankTimeline::k_never) {
      if (timeline.all_ended()) return timeline.take_spans();
      return internal_error("run_timeline", "the step is longer than an integer of nanoseconds");
    }
    timeline.advance(next);
    timeline.end_finished();
  }
}

Nanoseconds timeline_duration(std::span<const Span> spans) {
  if (spans.empty()) return {};
  Nanoseconds first = spans.front().issue;
  Nanoseconds last = first;
  for (const Span& span : spans) last = std::max(last, span.end);
  return last - first;
}

}  // namespace shardlab
