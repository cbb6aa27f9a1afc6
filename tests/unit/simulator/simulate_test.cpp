#include "simulator/simulate.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "engine/plan/step_plan.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/trace/check_trace.h"
#include "simulator/core/timeline.h"
#include "simulator/cost/cost_model.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

std::string printed(const RunTrace& run) {
  std::ostringstream text;
  for (const auto* steps : {&run.warmup, &run.steps}) {
    for (const StepTrace& step : *steps) {
      text << step.plan_hash << ' ' << step.step << ' ' << step.ranks[0].duration.value << '\n';
      for (const Span& span : step.ranks[0].spans) {
        text << span.instruction.value << ' ' << span.issue.value << ' ' << span.ready.value << ' '
             << span.start.value << ' ' << span.end.value << '\n';
      }
      for (const MemorySample& sample : step.ranks[0].memory)
        text << sample.live.value << ' ' << sample.peak.value << '\n';
    }
  }
  return text.str();
}

TEST_CASE("two simulations of one scenario are the same to the byte") {
  const PlannedScenario once = test::small_scenario("parallel: {strategy: fsdp2}");
  const PlannedScenario again = test::small_scenario("parallel: {strategy: fsdp2}");
  const Device device = test::device_of(once);
  const auto a = simulate({once, device});
  const auto b = simulate({again, device});
  REQUIRE_OK(a);
  REQUIRE_OK(b);
  CHECK(printed(*a) == printed(*b));
  CHECK(printed(*a).size() > 10'000);
}

TEST_CASE("a prediction fits its plan and says what it is") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const auto run = simulate({planned, test::device_of(planned)});
  REQUIRE_OK(run);
  REQUIRE(run->steps.size() == 1);
  REQUIRE(run->warmup.size() == 2);
  CHECK_FALSE(run->provenance.calibrated);
  CHECK(run->provenance.kind == RunKind::predicted);
  CHECK(run->provenance.leaves_out.size() >= 4);
  REQUIRE_OK(check_trace(planned.plan.steady, plan_hash(planned.plan.steady), run->steps[0]));
  REQUIRE_OK(check_trace(planned.plan.first, plan_hash(planned.plan.first), run->warmup[1]));
  const RankTrace& rank = run->steps[0].ranks[0];
  CHECK(rank.duration == timeline_duration(rank.spans));
}

// On a processor everything but collectives runs one after the other on the host.
TEST_CASE("a processor rank computes one thing at a time and waits for what it reads") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const StepPlan& plan = planned.plan.steady;
  const auto run = simulate({planned, test::device_of(planned)});
  REQUIRE_OK(run);
  Nanoseconds last;
  for (const Span& span : run->steps[0].ranks[0].spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    for (const InstructionId wait : instruction.waits) {
      CHECK(run->steps[0].ranks[0].spans[wait.index()].end <= span.start);
    }
    if (is_collective(instruction.kind)) continue;
    CHECK(span.issue >= last);
    last = span.end;
  }
}

TEST_CASE("the step on a GPU follows its streams") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}", "clip_norm: 1.0",
                                                       "{gpu: H100-SXM, gpus_per_node: 8, nodes: 1}");
  const StepPlan& plan = planned.plan.steady;
  const auto run = simulate({planned, test::device_of(planned)});
  REQUIRE_OK(run);
  std::vector<Nanoseconds> stream_end(plan.streams.size());
  std::vector<Nanoseconds> group_end(plan.groups.size());
  for (const Span& span : run->steps[0].ranks[0].spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    if (is_host_only(instruction.kind) && instruction.waits.empty()) continue;
    CHECK(span.start >= span.issue);
    CHECK(span.start >= stream_end[instruction.stream.index()]);
    stream_end[instruction.stream.index()] = span.end;
    if (!instruction.group) continue;
    CHECK(span.start >= group_end[instruction.group->index()]);
    group_end[instruction.group->index()] = span.end;
  }
}

TEST_CASE("collectives measured on several nodes hold for all ranks, not for groups within a node") {
  const auto step_time = [](const std::string& parallel, const Calibration* calibration) {
    const PlannedScenario planned =
        test::small_scenario(parallel, "clip_norm: 1.0", "{node: hgx-h100, nodes: 2}");
    const auto run = simulate({planned, test::device_of(planned), calibration});
    REQUIRE_OK(run);
    return run->steps[0].ranks[0].duration;
  };
  Calibration slow;
  slow.machine = {"NVIDIA H100", 0, 16, 1, "2.11", "H100-SXM", 2};
  slow.coefficients["all_gather.latency"] = {1e9, "ns"};
  slow.coefficients["all_gather.bandwidth"] = {1e9, "B/s"};
  slow.coefficients["all_gather.gamma"] = {0, "ns/sqrt(B)"};
  slow.probes.push_back({"all_gather", {{"bytes", 4096}, {"ranks", 16}}, {1'000'000'000}, 1e9, 1e9});
  slow.id = calibration_id(slow);
  const std::string whole = "parallel: {strategy: fsdp2}";
  const std::string within = "parallel: {strategy: fsdp2, mesh: {replicate: 2, shard: 8}}";
  CHECK(step_time(whole, &slow) > milliseconds(1000));
  CHECK(step_time(whole, nullptr) < milliseconds(1000));
  CHECK(step_time(within, &slow) < milliseconds(1000));
}

TEST_CASE("a calibration of other ranks or for GPUs is refused") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  Calibration calibration;
  calibration.machine = {"some processor", 4, 4, 1, "2.11", ""};
  const auto run = simulate({planned, test::device_of(planned), &calibration});
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::bad_input);
  CHECK_THAT(run.error().what, test::contains_text("4 ranks"));
  CHECK_THAT(run.error().hint, test::contains_text("--ranks 2"));
}

TEST_CASE("every instruction explains its cost with the same figure the simulation used") {
  const PlannedScenario planned =
      test::small_scenario("parallel: {strategy: fsdp2}\nprecision: {param: bfloat16, reduce: float32}");
  const Device device = test::device_of(planned);
  CostModel costs(planned, device, nullptr);
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    const CostBreakdown why = costs.explain(planned.plan.steady, instruction);
    CHECK(why.nanoseconds ==
          Approx(static_cast<double>(costs.cost(planned.plan.steady, instruction).duration.value)).margin(1));
    CHECK_FALSE(why.formula.empty());
  }
}

TEST_CASE("the operators' times add up to those of the segments") {
  const PlannedScenario planned = test::small_scenario(
      "parallel: {strategy: fsdp2}\nactivation: {checkpoint: full}\nmeasure: {detail: operators}");
  const Device device = test::device_of(planned);
  const auto run = simulate({planned, device});
  REQUIRE_OK(run);
  CostModel costs(planned, device, nullptr);
  Nanoseconds of_segments, of_operators;
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    if (runs_segment(instruction.kind)) of_segments += costs.cost(planned.plan.steady, instruction).duration;
  }
  for (const OperatorTime& op : run->operators) of_operators += op.time;
  CHECK(static_cast<double>(of_operators.value) ==
        Approx(static_cast<double>(of_segments.value)).epsilon(1e-4));
  REQUIRE_FALSE(run->operators.empty());
  CHECK(run->operators.front().operation == "add");
  CHECK_FALSE(run->operators.front().backward);
}

TEST_CASE("alike layers cost the same, the backward more than the forward") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const Device device = test::device_of(planned);
  CostModel costs(planned, device, nullptr);
  std::vector<Nanoseconds> forward, backward;
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    if (instruction.unit == Partition::root()) continue;
    if (instruction.kind == InstructionKind::Forward)
      forward.push_back(costs.cost(planned.plan.steady, instruction).duration);
    if (instruction.kind == InstructionKind::Backward)
      backward.push_back(costs.cost(planned.plan.steady, instruction).duration);
  }
  REQUIRE(forward.size() == 6);
  CHECK(std::count(forward.begin(), forward.end(), forward[0]) == 6);
  CHECK(backward[0] > forward[0]);
  CHECK(backward[0] < forward[0] * 4);
}

// The work of a span is counted in parts of a nanosecond, of which 64 bits hold 8,796 seconds.
TEST_CASE("on a slow processor a larger micro-batch takes longer, also where one instruction takes hours") {
  Nanoseconds before, longest;
  for (const int micro_batch : {1, 4, 16, 64}) {
    const auto scenario = parse_scenario(
        fmt::format(
            "model: {{config: llama-3-8b, sequence_length: 8192, overrides: {{num_hidden_layers: 2}}}}\n"
            "cluster: {{device: cpu, ranks: 2}}\nparallel: {{strategy: fsdp2}}\n"
            "train: {{micro_batch: {}}}\n",
            micro_batch),
        "slow.yaml");
    REQUIRE_OK(scenario);
    const auto planned = plan_scenario(*scenario);
    REQUIRE_OK(planned);
    const auto run = simulate({*planned, test::device_of(*planned)});
    REQUIRE_OK(run);
    const RankTrace& rank = run->steps[0].ranks[0];
    CHECK(rank.duration > before * 3);
    before = rank.duration;
    for (const Span& span : rank.spans) longest = std::max(longest, span.end - span.start);
  }
  CHECK(longest > milliseconds(8'796'000));
}

}  // namespace
}  // namespace shardlab
