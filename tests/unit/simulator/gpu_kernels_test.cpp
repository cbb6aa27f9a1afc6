// Launches outside of segments, counted by hand.
#include "simulator/cost/gpu_kernels.h"

#include "engine/scenario/strategy_facts.h"
#include "simulator/cost/instruction_traffic.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

struct Packs {
  std::int64_t instructions = 0;
  std::int64_t launches = 0;
};

// All instructions of the steady step that copy gradients together.
Packs packs_of(const std::string& parallel, std::int64_t& parameters) {
  const PlannedScenario planned =
      test::small_scenario("parallel: " + parallel, "clip_norm: 1.0", "{gpu: H100-SXM, gpus_per_node: 2}");
  parameters = std::ssize(planned.graph.parameters);
  Packs packs;
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    if (instruction.kind != InstructionKind::Pack) continue;
    ++packs.instructions;
    packs.launches += gpu_kernels(planned.graph, planned.plan.steady, instruction, *planned.scenario.train,
                                  facts_of(planned.scenario).copies_each_gradient);
  }
  return packs;
}

TEST_CASE("DDP and DeepSpeed copy gradient by gradient into their buckets, FSDP2 a unit at a time") {
  std::int64_t parameters = 0;
  for (const char* strategy : {"ddp", "zero1", "zero2", "zero3"}) {
    const Packs packs = packs_of(std::string("{strategy: ") + strategy + "}", parameters);
    INFO(strategy << ": " << packs.instructions << " instructions");
    CHECK(packs.launches >= parameters);
  }
  const Packs fsdp2 = packs_of("{strategy: fsdp2}", parameters);
  CHECK(fsdp2.launches == fsdp2.instructions);
}

TEST_CASE("what adds up parts of several nodes launches a kernel for each") {
  const PlannedScenario planned = test::small_scenario(
      "parallel: {strategy: zero3, zero: {zero_quantized_gradients: true}}\nprecision: {param: float16}",
      "clip_norm: 1.0", "{gpu: H100, gpus_per_node: 2, nodes: 4}");
  const StepPlan& plan = planned.plan.steady;
  std::int64_t sums = 0;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind != InstructionKind::Accumulate) continue;
    ++sums;
    CHECK(gpu_kernels(planned.graph, plan, instruction, *planned.scenario.train, true) == 4);
  }
  CHECK(sums > 0);
}

TEST_CASE(
    "an optimizer reads and writes adapters and launches for them, whatever frozen weights are beside") {
  for (const char* strategy : {"fsdp1", "fsdp2", "ddp", "zero3"}) {
    for (const char* implementation : {"fused", "foreach", "loop"}) {
      const PlannedScenario planned =
          test::small_scenario(std::string("parallel: {strategy: ") + strategy + "}",
                               std::string("optimizer_implementation: ") + implementation,
                               "{gpu: H100-SXM, gpus_per_node: 2}", "lora: {rank: 1, targets: [q_proj]}");
      const StepPlan& plan = planned.plan.steady;
      std::int64_t trained = 0, all = 0, bytes = 0, launches = 0;
      for (const Parameter& parameter : planned.graph.parameters) {
        all += parameter.elements();
        trained += parameter.trainable ? parameter.elements() : 0;
      }
      for (const Instruction& instruction : plan.instructions) {
        if (instruction.kind != InstructionKind::OptimizerStep) continue;
        bytes += traffic_of_instruction(planned.graph, plan, instruction, *planned.scenario.train)
                     ->traffic.bytes.value;
        launches += gpu_kernels(planned.graph, plan, instruction, *planned.scenario.train, false);
      }
      CAPTURE(strategy, implementation, trained, all);
      CHECK(bytes > 0);
      CHECK(bytes <= trained * 4 * 21);  // AdamW kernel by kernel: 20 reads or writes of a number
      CHECK(bytes < all * 4);
      CHECK(launches > 0);
    }
  }
}

}  // namespace
}  // namespace shardlab
