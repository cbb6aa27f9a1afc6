// What a measured run teaches, from traces made up by hand.
#include "simulator/calibrate/run_measurements.h"

#include <algorithm>

#include "simulator/cost/cost_model.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

const ProbeMeasurement* find(const std::vector<ProbeMeasurement>& measurements, std::string_view probe) {
  const auto found =
      std::find_if(measurements.begin(), measurements.end(), [&](const auto& m) { return m.probe == probe; });
  return found == measurements.end() ? nullptr : &*found;
}

// The instructions one after the other, 1000 ns each, 70 ns of host between them; collectives take no host
// time but 30 ns.
RunTrace trace_of(const StepPlan& plan) {
  RunTrace run;
  RankTrace& rank = run.steps.emplace_back().ranks.emplace_back();
  std::int64_t now = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const bool collective = is_collective(plan.instructions[i].kind);
    const std::int64_t duration = is_host_only(plan.instructions[i].kind) ? 0 : 1000;
    // A collective is over before the next instruction starts.
    rank.spans.push_back(
        {make_id<InstructionId>(i), {now}, {now}, {now}, {now + (collective ? 30 : duration)}, false});
    now += collective ? 30 : duration + 70;
  }
  return run;
}

TEST_CASE("copies, optimizer and the host's own time are read off a run") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const auto measurements =
      measurements_of_run(planned, test::device_of(planned), trace_of(planned.plan.steady));
  for (const char* probe :
       {"unpack", "pack", "copy", "gradient_norms", "clip_gradients", "optimizer", "load_batch"}) {
    INFO(probe);
    const ProbeMeasurement* measurement = find(measurements, probe);
    REQUIRE(measurement != nullptr);
    CHECK(measurement->samples.front() == 1000);
    CHECK(measurement->shape.at("bytes") > 0);
  }
  const ProbeMeasurement* host = find(measurements, "host.instruction");
  REQUIRE(host != nullptr);
  CHECK(std::all_of(host->samples.begin(), host->samples.end(), [](std::int64_t ns) { return ns == 70; }));
  const ProbeMeasurement* collective = find(measurements, "host.collective");
  REQUIRE(collective != nullptr);
  CHECK(std::all_of(collective->samples.begin(), collective->samples.end(),
                    [](std::int64_t ns) { return ns == 30; }));
}

TEST_CASE("of a run on GPUs the host's times are those between issues, a segment's by kernel") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}", "clip_norm: 1.0",
                                                       "{gpu: H100-SXM, gpus_per_node: 2}");
  const StepPlan& plan = planned.plan.steady;
  const Device device = test::device_of(planned);
  CostModel costs(planned, device, nullptr);
  RunTrace run = trace_of(plan);
  // 11 ns a collective, 7 ns another instruction, 5 ns each kernel of a segment; what the device does takes
  // longer.
  std::int64_t now = 0;
  for (Span& span : run.steps[0].ranks[0].spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    span.issue = {now};
    now += runs_segment(instruction.kind)    ? 5 * costs.kernels_of(plan, instruction)
           : is_collective(instruction.kind) ? 11
                                             : 7;
  }
  const auto measurements = measurements_of_run(planned, test::device_of(planned), run);
  const auto all_are = [&](const char* probe, std::int64_t expected) {
    const ProbeMeasurement* found = find(measurements, probe);
    return found != nullptr && std::all_of(found->samples.begin(), found->samples.end(),
                                           [&](std::int64_t ns) { return ns == expected; });
  };
  CHECK(all_are("host.launch", 5));
  CHECK(all_are("host.collective", 11));
  CHECK(all_are("host.instruction", 7));
  CHECK(find(measurements, "optimizer") != nullptr);
}

TEST_CASE("spans beside a collective teach nothing about copies") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  RunTrace run = trace_of(planned.plan.steady);
  // One gather that runs through the whole step.
  for (Span& span : run.steps[0].ranks[0].spans) {
    if (planned.plan.steady.instruction(span.instruction).kind != InstructionKind::AllGather) continue;
    span.start = {0};
    span.end = {1'000'000'000};
    break;
  }
  CHECK(find(measurements_of_run(planned, test::device_of(planned), run), "unpack") == nullptr);
}

}  // namespace
}  // namespace shardlab
