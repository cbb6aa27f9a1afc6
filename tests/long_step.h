// A step of as many instructions as wanted on four streams, with memory: what a timeline of 80 layers and
// many micro-batches looks like.
#pragma once

#include "tests/hand_made_run.h"

namespace shardlab::test {

// Six of every ten instructions compute, two gather, one reduces and one copies.
inline std::uint32_t long_step_stream(std::uint32_t i) {
  const std::uint32_t place = i % 10;
  return place < 6 ? 0 : place < 8 ? 1 : place == 8 ? 2 : 3;
}

inline StepPlan long_step_plan(std::uint32_t instructions) {
  StepPlan plan = hand_made_plan();
  plan.streams = {{"compute"}, {"all_gather"}, {"reduce_scatter"}, {"copy_in"}};
  plan.units.clear();
  for (int i = 0; i < 80; ++i) {
    const std::string number = std::to_string(i);
    plan.units.push_back({"u" + number, "model.layers." + number, 20, 20});
  }
  plan.buffers.clear();
  plan.instructions.clear();
  constexpr InstructionKind k_kinds[] = {InstructionKind::Forward, InstructionKind::AllGather,
                                         InstructionKind::ReduceScatter, InstructionKind::Copy};
  for (std::uint32_t i = 0; i < instructions; ++i) {
    const std::uint32_t stream = long_step_stream(i);
    plan.instructions.push_back(hand_made_instruction(k_kinds[stream], stream, {}));
    plan.instructions.back().unit = UnitId{i / 10 % 80};
    if (stream == 0 && i > 3) plan.instructions.back().waits = {{(i / 10 * 10 + 7) > i ? i - i % 10 : i - 1}};
  }
  for (std::uint32_t i = 0; i < instructions; ++i) {  // waits on the own stream say nothing
    auto& waits = plan.instructions[i].waits;
    std::erase_if(waits, [&](InstructionId id) { return long_step_stream(id.value) == long_step_stream(i); });
  }
  return plan;
}

inline RankTrace long_step_rank(std::uint32_t instructions) {
  RankTrace rank;
  std::int64_t ends[4] = {};
  for (std::uint32_t i = 0; i < instructions; ++i) {
    std::int64_t& end = ends[long_step_stream(i)];
    const std::int64_t issue = i * 4000LL, start = std::max(issue + 500, end);
    end = start + 2000 + (i * 7919LL) % 5000;
    rank.spans.push_back(hand_made_span(i, issue, start, start, end));
    MemorySample sample;
    sample.instruction = {i};
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < 6; ++c) {
      const std::int64_t bytes = static_cast<std::int64_t>((i / 7 + c * 13) % 100 + 1) << 20;
      sample.by_class[c] = sample.by_class_at_peak[c] = {bytes};
      sum += bytes;
    }
    sample.live = sample.peak = {sum};
    rank.memory.push_back(sample);
  }
  rank.duration = {*std::max_element(std::begin(ends), std::end(ends))};
  return rank;
}

}  // namespace shardlab::test
