// One instruction of a plan with what stands around it: what explanations are derived from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"

namespace shardlab {

struct InstructionContext {
  const PlannedScenario& planned;
  const StepPlan& step;
  InstructionId id;

  const Instruction& self() const { return step.instruction(id); }
  const Scenario& scenario() const { return planned.scenario; }
  std::string_view pass() const { return step.passes[self().pass]; }
  bool is_teachers() const {
    const auto unit = self().unit;
    return unit && unit->index() < planned.partition.units.size() && planned.partition.unit(*unit).teacher;
  }
};

// Forward, Recompute or Backward of a segment.
bool is_compute(const Instruction& instruction);

// The last such instruction issued before this one, and the first after it.
std::optional<InstructionId> previous_compute(const InstructionContext& context);
std::optional<InstructionId> next_compute(const InstructionContext& context);

// Later readers of what `id` writes, until the buffer is freed or allocated anew.
std::vector<InstructionId> readers_of(const StepPlan& step, InstructionId id);

// The first compute that needs what this instruction writes, through copies where there are any.
std::optional<InstructionId> compute_user(const InstructionContext& context);

// The last compute before this instruction that reads or writes a buffer which it frees.
std::optional<InstructionId> last_user_of_freed(const InstructionContext& context);

// The last instruction before this one that frees a buffer which it allocates.
std::optional<InstructionId> last_free_of_allocated(const InstructionContext& context);

bool reads_class(const InstructionContext& context, BufferClass buffer_class);
bool writes_class(const InstructionContext& context, BufferClass buffer_class);
bool frees_class(const InstructionContext& context, BufferClass buffer_class);

// Whether the instruction serves a backward: its compute user is one, or, of a Free, the last user was one.
bool serves_backward(const InstructionContext& context);

// "12 AllGather u1".
std::string label(const InstructionContext& context, InstructionId id);
// "u1 (model.layers.1)", "root (the model)"; "the unit" where there is none.
std::string unit_text(const InstructionContext& context);
// "float32" of the first buffer read or written; "" where there is none.
std::string_view dtype_read(const InstructionContext& context);
std::string_view dtype_written(const InstructionContext& context);
// Ranks of the group of a collective.
int group_size(const InstructionContext& context);

}  // namespace shardlab
