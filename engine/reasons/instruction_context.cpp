#include "engine/reasons/instruction_context.h"

#include <algorithm>

namespace shardlab {
namespace {

bool contains(const std::vector<BufferId>& buffers, BufferId id) {
  return std::find(buffers.begin(), buffers.end(), id) != buffers.end();
}

bool share(const std::vector<BufferId>& a, const std::vector<BufferId>& b) {
  return std::any_of(a.begin(), a.end(), [&](BufferId id) { return contains(b, id); });
}

bool any_of_class(const StepPlan& step, const std::vector<BufferId>& buffers, BufferClass buffer_class) {
  return std::any_of(buffers.begin(), buffers.end(),
                     [&](BufferId id) { return step.buffer(id).buffer_class == buffer_class; });
}

// The last instruction before `id` of which `holds` says true.
template <typename F>
std::optional<InstructionId> last_before(const StepPlan& step, InstructionId id, F holds) {
  for (std::size_t i = id.index(); i-- > 0;) {
    if (holds(step.instructions[i])) return make_id<InstructionId>(i);
  }
  return std::nullopt;
}

std::string_view first_dtype(const StepPlan& step, const std::vector<BufferId>& buffers) {
  return buffers.empty() ? std::string_view() : to_string(step.buffer(buffers.front()).dtype);
}

}  // namespace

bool is_compute(const Instruction& instruction) {
  return instruction.kind == InstructionKind::Forward || instruction.kind == InstructionKind::Recompute ||
         instruction.kind == InstructionKind::Backward;
}

std::optional<InstructionId> previous_compute(const InstructionContext& context) {
  return last_before(context.step, context.id, is_compute);
}

std::optional<InstructionId> next_compute(const InstructionContext& context) {
  for (std::size_t i = context.id.index() + 1; i < context.step.instructions.size(); ++i) {
    if (is_compute(context.step.instructions[i])) return make_id<InstructionId>(i);
  }
  return std::nullopt;
}

std::vector<InstructionId> readers_of(const StepPlan& step, InstructionId id) {
  std::vector<InstructionId> readers;
  std::vector<BufferId> written = step.instruction(id).writes;
  for (std::size_t i = id.index() + 1; i < step.instructions.size() && !written.empty(); ++i) {
    const Instruction& other = step.instructions[i];
    const auto ends = [&](const std::vector<BufferId>& buffers) {
      std::erase_if(written, [&](BufferId buffer) { return contains(buffers, buffer); });
    };
    ends(other.allocates);
    if (share(other.reads, written)) readers.push_back(make_id<InstructionId>(i));
    ends(other.frees);
  }
  return readers;
}

std::optional<InstructionId> compute_user(const InstructionContext& context) {
  InstructionId at = context.id;
  for (;;) {
    const std::vector<InstructionId> readers = readers_of(context.step, at);
    if (readers.empty()) return std::nullopt;
    at = readers.front();
    if (is_compute(context.step.instruction(at))) return at;
  }
}

std::optional<InstructionId> last_user_of_freed(const InstructionContext& context) {
  return last_before(context.step, context.id, [&](const Instruction& other) {
    return is_compute(other) &&
           (share(context.self().frees, other.reads) || share(context.self().frees, other.writes));
  });
}

std::optional<InstructionId> last_free_of_allocated(const InstructionContext& context) {
  return last_before(context.step, context.id,
                     [&](const Instruction& other) { return share(context.self().allocates, other.frees); });
}

bool reads_class(const InstructionContext& context, BufferClass buffer_class) {
  return any_of_class(context.step, context.self().reads, buffer_class);
}
bool writes_class(const InstructionContext& context, BufferClass buffer_class) {
  return any_of_class(context.step, context.self().writes, buffer_class);
}
bool frees_class(const InstructionContext& context, BufferClass buffer_class) {
  return any_of_class(context.step, context.self().frees, buffer_class);
}

bool serves_backward(const InstructionContext& context) {
  const auto user = context.self().frees.empty() ? compute_user(context) : last_user_of_freed(context);
  return user && context.step.instruction(*user).kind != InstructionKind::Forward;
}

std::string label(const InstructionContext& context, InstructionId id) {
  return instruction_label(context.step, id);
}

std::string unit_text(const InstructionContext& context) {
  if (!context.self().unit) return "the unit";
  const PlanUnit& unit = context.step.units[context.self().unit->index()];
  return unit.name + " (" + (unit.module_path.empty() ? "the model" : unit.module_path) + ")";
}

std::string_view dtype_read(const InstructionContext& context) {
  return first_dtype(context.step, context.self().reads);
}
std::string_view dtype_written(const InstructionContext& context) {
  return first_dtype(context.step, context.self().writes);
}

int group_size(const InstructionContext& context) {
  return context.self().group ? context.step.groups[context.self().group->index()].size : 1;
}

}  // namespace shardlab
