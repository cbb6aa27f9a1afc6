// A plan of seven instructions and traces of it, small enough to reckon with by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab::test {

inline Buffer hand_made_buffer(std::string name, BufferClass buffer_class, std::int64_t elements,
                               bool lives_on) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.buffer_class = buffer_class;
  buffer.elements = elements;
  buffer.carried = buffer.kept = lives_on;
  return buffer;
}

inline Instruction hand_made_instruction(InstructionKind kind, std::uint32_t stream,
                                         std::vector<InstructionId> waits) {
  Instruction instruction;
  instruction.kind = kind;
  instruction.stream = StreamId{stream};
  instruction.waits = std::move(waits);
  return instruction;
}

//  0 AllGather u0      all_gather      1000 B  allocates full.u0 (80 B)
//  1 Forward s0 mb0    compute         waits 0
//  2 Backward s0 mb0   compute         allocates gshard.u0 (40 B), frees full.u0
//  3 ReduceScatter u0  reduce_scatter  2000 B  waits 2
//  4 HostWait          compute         waits 3
//  5 OptimizerStep     compute         waits 3
//  6 ZeroGradients     compute         frees gshard.u0
inline StepPlan hand_made_plan(PlanPhase phase = PlanPhase::steady) {
  StepPlan plan;
  plan.phase = phase;
  plan.strategy = "fsdp2";
  plan.graph_hash = "0123456789abcdef0123456789abcdef";
  plan.world_size = 2;
  plan.groups = {{{GroupDimension::shard}, 2}};
  plan.streams = {{"compute"}, {"all_gather"}, {"reduce_scatter"}};
  plan.units = {{"root", "", 0, 0}, {"u0", "model.layers.0", 20, 20}};
  plan.segments = {{"s0", UnitId{1}, OperatorId{0}, OperatorId{1}, Bytes{0}, Bytes{0}, {}, {}}};
  plan.passes = {"fsdp2"};
  plan.buffers = {hand_made_buffer("shard.u0", BufferClass::parameter_shard, 10, true),
                  hand_made_buffer("full.u0", BufferClass::gathered_parameters, 20, false),
                  hand_made_buffer("gshard.u0", BufferClass::gradient_shard, 10, false)};
  const BufferId shard{0}, full{1}, gradient{2};
  using K = InstructionKind;
  plan.instructions = {
      hand_made_instruction(K::AllGather, 1, {}),    hand_made_instruction(K::Forward, 0, {{0}}),
      hand_made_instruction(K::Backward, 0, {}),     hand_made_instruction(K::ReduceScatter, 2, {{2}}),
      hand_made_instruction(K::HostWait, 0, {{3}}),  hand_made_instruction(K::OptimizerStep, 0, {{3}}),
      hand_made_instruction(K::ZeroGradients, 0, {})};
  std::vector<Instruction>& list = plan.instructions;
  for (const std::size_t i : {0U, 1U, 2U, 3U}) list[i].unit = UnitId{1};
  for (const std::size_t i : {0U, 3U}) list[i].group = GroupId{0};
  for (const std::size_t i : {1U, 2U}) {
    list[i].segment = SegmentId{0};
    list[i].micro_batch = 0;
    list[i].reads = {full};
  }
  list[0].bytes = {1000};
  list[0].reads = {shard};
  list[0].writes = list[0].allocates = {full};
  list[2].writes = list[2].allocates = {gradient};
  list[2].frees = {full};
  list[3].bytes = {2000};
  list[3].reduce = ReduceOperation::average;
  list[3].reads = list[3].writes = {gradient};
  list[5].reads = {gradient, shard};
  list[5].writes = {shard};
  list[6].frees = {gradient};
  return plan;
}

inline Span hand_made_span(std::uint32_t id, std::int64_t issue, std::int64_t ready, std::int64_t start,
                           std::int64_t end) {
  return {InstructionId{id}, {issue}, {ready}, {start}, {end}};
}

// The host runs ahead of the device, as on a GPU, and blocks in instruction 4.
//
//   all_gather      [0 100)
//   compute                 F [100 200) B [200 400)               O [460 500) Z [500 510)
//   reduce_scatter                                  RS [400 450)
//   host            issues 0..4 at 0 10 20 30 40, blocked until 450, issues 5 and 6 at 460 and 470
inline RankTrace hand_made_rank(int rank = 0) {
  RankTrace trace;
  trace.rank = rank;
  trace.duration = {510};
  trace.spans = {hand_made_span(0, 0, 0, 0, 100),      hand_made_span(1, 10, 100, 100, 200),
                 hand_made_span(2, 20, 20, 200, 400),  hand_made_span(3, 30, 400, 400, 450),
                 hand_made_span(4, 40, 450, 450, 450), hand_made_span(5, 460, 460, 460, 500),
                 hand_made_span(6, 470, 470, 500, 510)};
  return trace;
}

// After each instruction: live 120 120 80 80 80 80 40; the peak of 200 is inside Backward, 80 of it
// workspace.
inline std::vector<MemorySample> hand_made_memory() {
  std::vector<MemorySample> samples;
  const auto at = [](BufferClass c) { return static_cast<std::size_t>(c); };
  const std::int64_t live[] = {120, 120, 80, 80, 80, 80, 40};
  const std::int64_t peak[] = {120, 120, 200, 80, 80, 90, 80};
  for (std::uint32_t i = 0; i < 7; ++i) {
    MemorySample sample;
    sample.instruction = {i};
    sample.live = {live[i]};
    sample.peak = {peak[i]};
    sample.by_class[at(BufferClass::parameter_shard)] =
        sample.by_class_at_peak[at(BufferClass::parameter_shard)] = {40};
    sample.by_class[at(BufferClass::gathered_parameters)] = {i < 2 ? 80 : 0};
    sample.by_class_at_peak[at(BufferClass::gathered_parameters)] = {i < 3 ? 80 : 0};
    sample.by_class[at(BufferClass::gradient_shard)] = {i >= 2 && i < 6 ? 40 : 0};
    samples.push_back(sample);
  }
  samples[2].by_class_at_peak[at(BufferClass::workspace)] = {80};
  samples[5].by_class_at_peak[at(BufferClass::gradient_shard)] = {40};
  samples[5].by_class_at_peak[at(BufferClass::workspace)] = {10};
  return samples;
}

inline StepTrace hand_made_step(std::int64_t number, int ranks = 1) {
  StepTrace step;
  step.plan_hash = plan_hash(hand_made_plan());
  step.step = number;
  for (int rank = 0; rank < ranks; ++rank) {
    step.ranks.push_back(hand_made_rank(rank));
    step.ranks.back().memory = hand_made_memory();
    step.ranks.back().loss = 2.5 - rank;
  }
  return step;
}

// A copy in which everything lasts `percent` of the time.
inline StepTrace stretched(StepTrace step, std::int64_t percent) {
  for (RankTrace& rank : step.ranks) {
    rank.duration = rank.duration * percent / 100;
    for (Span& span : rank.spans) {
      for (Nanoseconds* time : {&span.issue, &span.ready, &span.start, &span.end})
        *time = *time * percent / 100;
    }
  }
  return step;
}

}  // namespace shardlab::test
