// Launches outside of segments, counted by hand.
#include "simulator/cost/gpu_kernels.h"

#include "engine/scenario/strategy_facts.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

// The most launches of any Pack of the steady step.
std::int64_t launches_of_packs(const std::string& parallel) {
  const PlannedScenario planned =
      test::small_scenario("parallel: " + parallel, "clip_norm: 1.0", "{gpu: H100-SXM, gpus_per_node: 2}");
  std::int64_t most = 0;
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    if (instruction.kind != InstructionKind::Pack) continue;
    most = std::max(most, gpu_kernels(planned.plan.steady, instruction, *planned.scenario.train,
                                      facts_of(planned.scenario).copies_each_gradient));
  }
  return most;
}

TEST_CASE("DDP and DeepSpeed copy gradient by gradient into their buckets, FSDP2 a unit at a time") {
  // tiny-llama: its layers have nine parameters each, and all of them go into one bucket of 25 MiB.
  CHECK(launches_of_packs("{strategy: ddp}") > 9);
  CHECK(launches_of_packs("{strategy: zero2}") > 9);
  CHECK(launches_of_packs("{strategy: fsdp2}") == 1);
}

}  // namespace
}  // namespace shardlab
