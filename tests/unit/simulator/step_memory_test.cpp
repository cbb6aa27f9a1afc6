// Memory of simulated steps against the plan's own sums, and against a segment followed by hand.
#include "simulator/memory/step_memory.h"

#include <algorithm>
#include <numeric>

#include "engine/plan/gradient_parts.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

Bytes sum(const BytesByClass& by_class) {
  return std::accumulate(by_class.begin(), by_class.end(), Bytes{});
}

void check_against_plan(const PlannedScenario& planned, const StepPlan& plan) {
  const auto samples = simulate_memory(planned, plan, 0);
  REQUIRE_OK(samples);
  const std::vector<Bytes> live = live_bytes_after(plan);
  REQUIRE(samples->size() == live.size());
  for (std::size_t i = 0; i < live.size(); ++i) {
    const MemorySample& sample = (*samples)[i];
    INFO(to_string(plan.phase) << ", " << instruction_label(plan, sample.instruction));
    CHECK(sample.live == live[i]);
    CHECK(sum(sample.by_class) == sample.live);
    CHECK(sum(sample.by_class_at_peak) == sample.peak);
    CHECK(sample.peak >= sample.live);
    CHECK(sample.peak >= (i == 0 ? carried_bytes(plan) : live[i - 1]));
  }
}

TEST_CASE("live bytes equal the plan's at every border of every step") {
  for (const char* sections :
       {"parallel: {strategy: none}", "parallel: {strategy: ddp}", "parallel: {strategy: fsdp2}",
        "parallel: {strategy: fsdp2, reshard_after_forward: false}",
        "parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}"}) {
    for (const char* train :
         {"accumulation: 1, clip_norm: 1.0", "accumulation: 2, sync: every", "accumulation: 2, sync: last"}) {
      INFO(sections << ", " << train);
      const std::string cluster = std::string(sections).find("none") == std::string::npos
                                      ? "{device: cpu, ranks: 2}"
                                      : "{device: cpu, ranks: 1}";
      const PlannedScenario planned = test::small_scenario(sections, train, cluster);
      check_against_plan(planned, planned.plan.setup);
      check_against_plan(planned, planned.plan.first);
      check_against_plan(planned, planned.plan.steady);
    }
  }
}

// Above the start: what steps allocate and free, and gradients of parameters where they are written.
Bytes highest_in_backward(const PlannedScenario& planned, const Instruction& backward,
                          const Program& program) {
  const auto gradients = gradient_parts(planned.graph, planned.plan.steady, backward, program);
  Bytes live, highest;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    for (const GradientPart& part : gradients[i]) live += part.bytes;
    highest = std::max(highest, live + step.temporaries_before);
    for (const ValueIndex value : step.allocates) live += program.values[value].bytes;
    highest = std::max(highest, live + step.temporaries);
    for (const ValueIndex value : step.frees) live -= program.values[value].bytes;
  }
  return highest;
}

TEST_CASE("inside a segment memory goes as high as its program says") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const StepPlan& plan = planned.plan.steady;
  const auto samples = simulate_memory(planned, plan, 0);
  REQUIRE_OK(samples);
  const std::vector<Bytes> live = live_bytes_after(plan);
  int segments = 0;
  for (std::size_t i = 1; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (instruction.kind != InstructionKind::Forward && instruction.kind != InstructionKind::Backward)
      continue;
    const SegmentPrograms& programs = planned.partition.segment(*instruction.segment).programs;
    const Bytes peak = instruction.kind == InstructionKind::Forward
                           ? plan.segments[instruction.segment->index()].forward_peak
                           : highest_in_backward(planned, instruction, programs.backward);
    CHECK((*samples)[i].peak == live[i - 1] + peak);
    ++segments;
  }
  CHECK(segments == 2 * static_cast<int>(plan.segments.size()));
}

TEST_CASE("an operator's workspace counts while it runs, once a thread") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const StepPlan& plan = planned.plan.steady;
  const auto without = simulate_memory(planned, plan, 0);
  const auto one = simulate_memory(planned, plan, 1);
  const auto two = simulate_memory(planned, plan, 2);
  REQUIRE_OK(without);
  REQUIRE_OK(one);
  REQUIRE_OK(two);
  bool higher = false;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const MemorySample& sample = (*one)[i];
    CHECK(sample.live == (*without)[i].live);
    CHECK(sum(sample.by_class_at_peak) == sample.peak);
    CHECK(sample.peak >= (*without)[i].peak);
    CHECK((*two)[i].peak - (*without)[i].peak >= sample.peak - (*without)[i].peak);
    higher = higher || sample.peak > (*without)[i].peak;
  }
  CHECK(higher);
}

TEST_CASE("a program that leaves other bytes than the plan says is found") {
  PlannedScenario planned = test::small_scenario("parallel: {strategy: ddp}");
  StepPlan& plan = planned.plan.steady;
  for (Buffer& buffer : plan.buffers) {
    if (buffer.saved_by) buffer.elements += 1;
  }
  const auto samples = simulate_memory(planned, plan, 0);
  REQUIRE_FALSE(samples);
  CHECK(samples.error().kind == ErrorKind::internal);
  CHECK_THAT(where_text(samples.error()), test::contains_text("Forward"));
}

}  // namespace
}  // namespace shardlab
