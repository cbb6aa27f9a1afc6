#include "engine/report/summarize.h"

#include "engine/report/model_flops.h"
#include "engine/report/tables.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

Work work(std::int64_t model_flops) {
  Work result;
  result.flops = result.model_flops = {model_flops};
  return result;
}

// Two ranks, two sequences of eight tokens each in one micro-batch: 32 tokens a step. Model FLOPs of a rank:
// 100 + 30 + 200 = 330.
PlannedScenario planned_scenario() {
  PlannedScenario planned;
  planned.scenario.cluster->device = DeviceKind::cpu;
  planned.scenario.cluster->ranks = 2;
  planned.scenario.parallel->strategy = "fsdp2";
  planned.graph.micro_batch = 2;
  planned.graph.sequence_length = 8;
  planned.plan.steady = hand_made_plan();
  planned.partition.segments.resize(1);
  SegmentPrograms& programs = planned.partition.segments[0].programs;
  programs.forward.work = {work(100), work(30)};
  programs.backward.work = {work(200)};
  programs.backward.work[0].flops = {250};  // 50 of it recomputed inside the kernel: not counted
  return planned;
}

// Steps of 510, 1020 and 2040 ns on two ranks.
RunTrace measured_trace() {
  RunTrace trace;
  trace.provenance.kind = RunKind::measured;
  trace.steps = {stretched(hand_made_step(3, 2), 200), hand_made_step(4, 2),
                 stretched(hand_made_step(5, 2), 400)};
  trace.losses = {3, 2, 1};
  return trace;
}

}  // namespace

TEST_CASE("tokens and FLOPs of a step") {
  PlannedScenario planned = planned_scenario();
  CHECK(tokens_per_step(planned) == 32);
  CHECK(model_flops_per_step(planned) == Flops{330});
  planned.plan.steady.micro_batches = 3;
  CHECK(tokens_per_step(planned) == 96);
  CHECK(model_flops_per_step(planned) == Flops{990});
}

TEST_CASE("the figures of a run follow their definitions") {
  const auto run = summarize(planned_scenario(), measured_trace(), {FlopsPerSecond{1e9}, Bytes{1000}});
  REQUIRE_OK(run);
  CHECK(run->kind == RunKind::measured);
  CHECK(run->ranks == 2);
  CHECK(run->step_time == StepTimeSummary{{1020}, {510}, {2040}, 3});
  CHECK(run->tokens_per_second == Approx(32 / 1020e-9));
  CHECK(run->tokens_per_second_per_gpu == Approx(16 / 1020e-9));
  CHECK(run->mfu.value() == Approx(330 / 1020e-9 / 1e9));
  CHECK(run->exposed_communication ==
        Nanoseconds{280});  // 140 in a step of 510, twice that in the median step
  CHECK(run->losses == std::vector<double>{3, 2, 1});
}

TEST_CASE("a run says what torch.compile covers") {
  PlannedScenario planned = planned_scenario();
  planned.graph.implementation = Implementation::eager;
  const RunSummary plain = summarize(planned, measured_trace()).value();
  CHECK_FALSE(plain.compiled);
  planned.scenario.model->compile = CompileScope::blocks;
  const RunSummary compiled = summarize(planned, measured_trace()).value();
  CHECK(compiled.compiled == CompileScope::blocks);
  CHECK_THAT(summary_table(compiled, TextStyle{}),
             test::contains_text("PyTorch's modules, every layer compiled"));
}

TEST_CASE("exposed communication is the mean over ranks") {
  RunTrace trace = measured_trace();
  trace.steps = {hand_made_step(0, 2)};
  trace.steps[0].ranks[1].spans[0].skipped = true;  // this rank waits only for its reduce-scatter, 50
  CHECK(summarize(planned_scenario(), trace).value().exposed_communication ==
        Nanoseconds{95});  // (140 + 50) / 2
}

TEST_CASE("steps whose optimizer was skipped are counted, warm-up included") {
  RunTrace trace = measured_trace();
  CHECK(summarize(planned_scenario(), trace).value().skipped_steps == 0);
  trace.steps[1].ranks[0].spans[5].skipped = true;
  CHECK(summarize(planned_scenario(), trace).value().skipped_steps == 1);
}

TEST_CASE("communication is what one rank runs in one step") {
  RunTrace trace = measured_trace();
  auto run = summarize(planned_scenario(), trace);
  REQUIRE_OK(run);
  CHECK(run->communication ==
        std::vector<CommunicationTotal>{{InstructionKind::AllGather, 2, 1, {1000}, {1000}},
                                        {InstructionKind::ReduceScatter, 2, 1, {2000}, {2000}}});
  for (RankTrace& rank : trace.steps[0].ranks) rank.sent = {{InstructionKind::AllGather, 2, 1, {500}}};
  run = summarize(planned_scenario(), trace);
  REQUIRE_OK(run);
  CHECK(run->communication.at(0).counted == Bytes{1000});  // of both ranks
  CHECK_FALSE(run->communication.at(1).counted);
  for (RankTrace& rank : trace.steps[0].ranks) rank.spans[3].skipped = true;
  run = summarize(planned_scenario(), trace);
  REQUIRE_OK(run);
  CHECK(run->communication.size() == 1);
}

TEST_CASE("whether it fits") {
  PlannedScenario planned = planned_scenario();
  RunTrace trace = measured_trace();
  const auto fits = [&](DeviceLimits device) { return summarize(planned, trace, device).value().fits; };
  CHECK_FALSE(fits({}).has_value());
  CHECK(fits({{}, Bytes{200}}) == Fit::yes);  // the peak
  CHECK(fits({{}, Bytes{199}}) == Fit::no);
  planned.scenario.cluster->memory_limit = Bytes{300};  // comes before the device's memory
  CHECK(fits({{}, Bytes{199}}) == Fit::yes);
  trace.warmup = {hand_made_step(0, 1)};  // the first step must fit too
  trace.warmup[0].ranks[0].memory[0].peak = {301};
  CHECK(fits({}) == Fit::no);
}

// On the device 70 GiB; libraries may take 3 GiB more than they are reckoned with.
TEST_CASE("a prediction for GPUs fits by what the allocator makes of it") {
  const PlannedScenario planned = planned_scenario();
  RunTrace trace = measured_trace();
  trace.provenance.kind = RunKind::predicted;
  trace.device_memory.emplace().device_peak = gibibytes(70);
  trace.overheads = {{"NCCL", gibibytes(1), gibibytes(1), gibibytes(3), OverheadPlace::device, "", ""},
                     {"cuBLAS", gibibytes(1), {}, gibibytes(2), OverheadPlace::allocator, "", ""},
                     {"processes", gibibytes(1), {}, gibibytes(9), OverheadPlace::host, "", ""}};
  const auto summary = [&](Bytes limit) { return summarize(planned, trace, {{}, limit}).value(); };
  CHECK(summary(gibibytes(80)).fit_margin == gibibytes(3));
  CHECK(summary(gibibytes(73)).fits == Fit::yes);
  CHECK(summary(gibibytes(70)).fits == Fit::unsure);
  CHECK(summary(gibibytes(69)).fits == Fit::no);
  CHECK(summary(gibibytes(69)).fit_probability == 0);
  trace.fit = FitEstimate{.probability = 0.5, .low = gibibytes(60), .high = gibibytes(75)};
  CHECK(summary(gibibytes(72)).fits == Fit::unsure);
  CHECK(summary(gibibytes(72)).fit_probability == 0.5);
  CHECK(summary(gibibytes(72)).memory->device_high == gibibytes(75));
  trace.fit->probability = 1;
  trace.device_memory->retries = 1;
  CHECK(summary(gibibytes(80)).fits == Fit::unsure);
  CHECK(summary(gibibytes(80)).memory->allocator_retries == 1);
  trace.fit->probability = 0;
  CHECK(summary(gibibytes(80)).fits == Fit::no);
  trace.provenance.kind = RunKind::measured;
  CHECK_FALSE(summary(gibibytes(70)).fit_margin);
}

TEST_CASE("what is unknown is absent") {
  RunTrace trace = measured_trace();
  for (StepTrace& step : trace.steps) {
    for (RankTrace& rank : step.ranks) rank.memory.clear();
  }
  const auto run = summarize(planned_scenario(), trace, {{}, Bytes{1000}});
  REQUIRE_OK(run);
  CHECK_FALSE(run->mfu.has_value());
  CHECK_FALSE(run->memory.has_value());
  CHECK_FALSE(run->fits.has_value());
}

TEST_CASE("a trace that cannot be summarized is refused") {
  RunTrace trace = measured_trace();
  SECTION("no steps") {
    trace.steps.clear();
  }
  SECTION("another plan") {
    trace.steps[1].plan_hash = "feed";
  }
  SECTION("an instruction beyond the plan") {
    trace.steps[1].ranks[0].spans[6].instruction = {99};
  }
  const auto run = summarize(planned_scenario(), trace);
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::bad_input);
}
