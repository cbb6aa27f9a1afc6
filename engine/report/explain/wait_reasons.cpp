// Why an instruction waits: most waits follow from a buffer that both touch.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/report/explain/reason.h"

namespace shardlab {
namespace {

std::optional<BufferId> shared_buffer(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
  const auto found = std::find_first_of(a.begin(), a.end(), b.begin(), b.end());
  return found == a.end() ? std::nullopt : std::optional(*found);
}

// What `other` does to a buffer that `self` needs afterwards; empty when they share none.
std::string conflict(const StepPlan& step, const Instruction& self, const Instruction& other) {
  const auto name = [&](BufferId id) { return step.buffer(id).name; };
  if (const auto id = shared_buffer(other.writes, self.reads))
    return fmt::format("writes {}, which this reads", name(*id));
  if (const auto id = shared_buffer(other.reads, self.frees))
    return fmt::format("reads {}, which this gives back", name(*id));
  if (const auto id = shared_buffer(other.writes, self.frees))
    return fmt::format("writes {}, which this gives back", name(*id));
  if (const auto id = shared_buffer(other.reads, self.writes))
    return fmt::format("reads {}, which this overwrites", name(*id));
  if (const auto id = shared_buffer(other.writes, self.writes))
    return fmt::format("writes {}, which this writes again", name(*id));
  if (const auto id = shared_buffer(other.frees, self.allocates))
    return fmt::format("gives back {}, which this takes again", name(*id));
  return {};
}

}  // namespace

std::string reason_to_wait(const InstructionContext& context, InstructionId awaited) {
  const StepPlan& step = context.step;
  const Instruction& other = step.instruction(awaited);
  if (context.self().kind == InstructionKind::HostWait)
    return "the host issues nothing more until it is done";
  if (std::string direct = conflict(step, context.self(), other); !direct.empty()) return "it " + direct;
  // A stream runs in issue order: a wait for its last instruction is one for all before it.
  for (std::size_t i = awaited.index(); i-- > 0;) {
    if (step.instructions[i].stream != other.stream) continue;
    const std::string earlier = conflict(step, context.self(), step.instructions[i]);
    if (!earlier.empty())
      return fmt::format("then {} is done too, which {}", label(context, make_id<InstructionId>(i)), earlier);
  }
  const std::string& stream = step.streams[other.stream.index()].name;
  return fmt::format("then all that {} was given before is done, work of the step before included", stream);
}

}  // namespace shardlab
