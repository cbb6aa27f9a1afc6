#include "gui/view_model/timeline/step_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/trace/memory_timeline.h"

namespace shardlab::view {
namespace {

bool is_the_teachers(const StepPlan& plan, const PlanWords& words, const Instruction& self) {
  return self.segment && self.segment->index() < plan.segments.size() &&
         words.segment(*self.segment).teachers;
}

bool is_one_part(const StepPart& a, const StepPart& b) {
  return a.phase == b.phase && a.teachers == b.teachers && a.micro_batch == b.micro_batch;
}

}  // namespace

std::vector<StepPart> step_parts(const StepPlan& plan, const PlanWords& words, const RankTrace& rank) {
  std::vector<StepPart> parts;
  for (const Span& span : rank.spans) {
    const Instruction& self = plan.instruction(span.instruction);
    if (is_host_only(self.kind) || span.skipped) continue;
    const auto phase = phase_that_begins(self);  // none: it serves the part around it
    // An update may be a processor's, on a stream of its own.
    if (self.stream != StreamId{0} && phase != StepPhase::optimizer) continue;
    if (!phase) {
      if (!parts.empty() && !is_collective(self.kind))
        parts.back().end = std::max(parts.back().end, span.end);
      continue;
    }
    StepPart part{*phase, is_the_teachers(plan, words, self), self.micro_batch, span.start, span.end};
    if (*phase == StepPhase::optimizer) part.micro_batch.reset();
    if (!parts.empty() && is_one_part(parts.back(), part)) {
      parts.back().end = std::max(parts.back().end, span.end);
    } else {
      parts.push_back(part);
    }
  }
  return parts;
}

std::string to_words(const StepPart& part, int micro_batches) {
  std::string text = part.teachers ? "the teacher's " : "";
  text += to_string(part.phase);
  if (part.micro_batch && micro_batches > 1)
    text += fmt::format(", micro-batch {} of {}", *part.micro_batch + 1, micro_batches);
  return text;
}

std::string brief(const StepPart& part, int micro_batches) {
  std::string text = part.teachers ? "teacher" : "";
  if (!part.teachers)
    text = part.phase == StepPhase::forward ? "fwd" : part.phase == StepPhase::backward ? "bwd" : "opt";
  if (part.micro_batch && micro_batches > 1) text += fmt::format(" {}", *part.micro_batch + 1);
  return text;
}

}  // namespace shardlab::view
