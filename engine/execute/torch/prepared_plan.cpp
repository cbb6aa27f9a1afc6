#include "engine/execute/torch/prepared_plan.h"

namespace shardlab {
namespace {

// The flag that says whether the instruction is to be skipped.
Result<Slot> find_guard(const Site& site) {
  for (const BufferId id : site.instruction().reads) {
    if (site.buffer(id).role == BufferRole::found_inf) return site.slot(id);
  }
  return site.defect("is guarded and reads no flag");
}

}  // namespace

Result<PreparedPlan> prepare_plan(RunState& run, const StepPlan& plan) {
  PreparedPlan prepared;
  prepared.plan = &plan;
  for (const Buffer& buffer : plan.buffers) {
    const auto pool =
        buffer.within ? std::optional(prepared.slots[buffer.within->pool.index()]) : std::nullopt;
    SHARDLAB_TRY(const Slot slot, run.buffers.slot_of(buffer, pool));
    prepared.slots.push_back(slot);
  }
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Site site{run, plan, make_id<InstructionId>(i), prepared.slots};
    PreparedInstruction& instruction = prepared.instructions.emplace_back();
    SHARDLAB_TRY(instruction.action, prepare_action(site));
    if (site.instruction().guard != Guard::none) {
      SHARDLAB_TRY(instruction.guard, find_guard(site));
    }
  }
  prepared.schedule = schedule_streams(plan, run.backend->streams().queueing());
  return prepared;
}

}  // namespace shardlab
