// A step of four instructions on two streams, with a trace of one rank, small enough to check by hand.
#pragma once

#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab::test {

inline Instruction make_instruction(InstructionKind kind, std::uint32_t stream,
                                    std::vector<InstructionId> waits = {}) {
  Instruction instruction;
  instruction.kind = kind;
  instruction.stream = StreamId{stream};
  instruction.waits = std::move(waits);
  return instruction;
}

// 0 AllGather (all_gather) -> 1 Unpack (compute, waits 0) -> 2 Free (compute) -> 3 Forward (compute).
inline StepPlan small_plan() {
  StepPlan plan;
  plan.phase = PlanPhase::steady;
  plan.strategy = "fsdp2";
  plan.world_size = 2;
  plan.groups = {{{GroupDimension::shard}, 2}};
  plan.streams = {{"compute"}, {"all_gather"}};
  plan.units = {{"root", "", 10, 12}};
  plan.passes = {"strategy"};
  Buffer gathered;
  gathered.name = "gathered.root";
  gathered.buffer_class = BufferClass::gather_buffer;
  gathered.elements = 12;
  gathered.stream = StreamId{1};
  plan.buffers = {gathered};
  plan.instructions = {make_instruction(InstructionKind::AllGather, 1),
                       make_instruction(InstructionKind::Unpack, 0, {InstructionId{0}}),
                       make_instruction(InstructionKind::Free, 0),
                       make_instruction(InstructionKind::Forward, 0)};
  plan.instructions[0].unit = UnitId{0};
  plan.instructions[0].group = GroupId{0};
  plan.instructions[0].bytes = Bytes{48};
  plan.instructions[0].reads = plan.instructions[0].writes = {BufferId{0}};
  plan.instructions[3].micro_batch = 0;
  return plan;
}

inline StepTrace small_trace(std::int64_t step) {
  StepTrace trace;
  trace.plan_hash = "hash";
  trace.step = step;
  RankTrace rank;
  rank.rank = 0;
  rank.duration = {5000};
  rank.spans = {{InstructionId{0}, {10}, {10}, {100}, {1234}, false},
                {InstructionId{1}, {20}, {1234}, {1300}, {2000}, false},
                {InstructionId{2}, {30}, {30}, {2000}, {2000}, false},
                {InstructionId{3}, {40}, {40}, {2000}, {5000}, true}};
  MemorySample sample;
  sample.instruction = InstructionId{0};
  sample.live = {48};
  sample.peak = {64};
  sample.by_class[static_cast<std::size_t>(BufferClass::gather_buffer)] = {48};
  rank.memory = {sample};
  trace.ranks = {rank};
  return trace;
}

}  // namespace shardlab::test
