#include "engine/report/tables.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

Bytes& class_of(BytesByClass& by_class, BufferClass c) {
  return by_class[static_cast<std::size_t>(c)];
}

RunSummary measured_summary() {
  RunSummary run;
  run.kind = RunKind::measured;
  run.plan_hash = "0123456789abcdef";
  run.ranks = 2;
  run.step_time = {milliseconds(120), milliseconds(110), milliseconds(140), 10};
  run.tokens_per_second = 17066.7;
  run.tokens_per_second_per_gpu = 8533.3;
  run.mfu = 0.412;
  run.mfu_palm = 0.445;
  run.exposed_communication = milliseconds(12);
  run.communication = {{InstructionKind::AllGather, 2, 9, mebibytes(9), mebibytes(9), mebibytes(9)},
                       {InstructionKind::AllReduce, 2, 1, {36}, {72}, Bytes{70}}};
  run.volume = CommunicationVolume{1.46, 3};
  run.skipped_steps = 1;
  run.memory.emplace();
  run.memory->peak_allocated = mebibytes(200);
  class_of(run.memory->by_class, BufferClass::activation) = mebibytes(150);
  class_of(run.memory->by_class, BufferClass::parameter_shard) = mebibytes(50);
  run.memory->peak_label = "34 Backward s4 mb0";
  run.memory->phases = {mebibytes(180), mebibytes(200), mebibytes(90)};
  run.memory_limit = gibibytes(1);
  run.fits = Fit::yes;
  run.losses = {5.5, 4.5, 3.5, 2.5};
  return run;
}

RunEntry entry(std::int64_t id, RunKind kind, std::string name) {
  RunEntry run;
  run.id = {id};
  run.kind = kind;
  run.name = std::move(name);
  run.created = 1772373900;
  run.strategy = "fsdp2";
  run.ranks = 2;
  run.step_time = milliseconds(120);
  run.tokens_per_second = 17066.7;
  run.peak_allocated = mebibytes(200);
  return run;
}

}  // namespace

TEST_CASE("the table of a run") {
  CHECK(summary_table(measured_summary(), {}) ==
        R"(measured, 2 ranks, plan 0123456789ab
  step time               120 ms  110 ms to 140 ms, 10 steps
  tokens per second       17,067  8,533 a rank
  MFU                     41.2 %  causal attention counted half
  MFU by PaLM             44.5 %  6N + 12Lhs: attention whole, embeddings too
  exposed communication  12.0 ms  10.0 % of the step
  peak allocated         200 MiB  rank 0, in 34 Backward s4 mb0
  fits                       yes  limit 1.00 GiB a rank
  skipped steps                1  their gradients were not finite
  loss                    2.5000  from 5.5000 in 4 steps  █▆▃▁

communication of a rank in a step (full side; sent by all ranks)
  AllGather  of 2 ranks  9 x  9.00 MiB  9.00 MiB sent, counted the same
  AllReduce  of 2 ranks  1 x      36 B  72 B sent, counted 70 B
  a rank sends 1.46 numbers per model parameter; with more ranks this nears 3

memory at the peak
  parameter shard  50.0 MiB  25.0 %
  activation        150 MiB  75.0 %
  highest in forward 180 MiB, backward 200 MiB, optimizer 90.0 MiB
)");
}

TEST_CASE("the verdict on memory gives the reason where the chance of the steps is none") {
  RunSummary run = measured_summary();
  run.kind = RunKind::predicted;
  run.fit_probability = 0.999;
  CHECK_THAT(summary_table(run, {}), test::contains_text("yes  limit 1.00 GiB a rank; chance over 99 %\n"));
  run.fits = Fit::unsure;
  run.fit_reason = "140 allocations only after the allocator gave memory back";
  CHECK_THAT(
      summary_table(run, {}),
      test::contains_text("  fits                    unsure  140 allocations only after the allocator\n"
                          "                                  gave memory back; steps run with over 99 %\n"
                          "                                  limit 1.00 GiB a rank\n"));
  run.fits = Fit::no;
  run.fit_reason = "save full takes 815 GiB of the device's 79.2 GiB";
  CHECK_THAT(summary_table(run, {}),
             test::contains_text("no  save full takes 815 GiB of the device's\n"
                                 "                                  79.2 GiB; steps run with over 99 %\n"));
  run.fit_probability = 0.001;
  run.fit_reason = "the steps take 2.00 GiB of the device's 1.00 GiB";
  CHECK_THAT(summary_table(run, {}), test::contains_text("no  limit 1.00 GiB a rank; chance under 1 %\n"));
}

TEST_CASE("a phase that the job has not says so beside its name") {
  RunSummary run = measured_summary();
  run.memory->life = {{LifePhase::steady, mebibytes(200), mebibytes(10), true, true, ""},
                      {LifePhase::save_full, gibibytes(2), mebibytes(20), false, false, "the whole model"},
                      {LifePhase::save_sharded, mebibytes(9), mebibytes(20), false, false, ""}};
  CHECK_THAT(summary_table(run, {}),
             test::contains_text("  over the life of the job     device  host of a node\n"
                                 "  steady                      200 MiB        10.0 MiB\n"
                                 "  save full (not asked for)  2.00 GiB        20.0 MiB  the whole model\n"));
  run.memory->life[1].asked = true;
  CHECK_THAT(summary_table(run, {.width = 120}),
             test::contains_text(
                 "  save full                 2.00 GiB        20.0 MiB  the whole model (predicted"));
}

TEST_CASE("the instruction at the peak is told in words where its plan is known") {
  StepPlan plan;
  plan.units = {{"u1", "model.layers.1", 1, 1}};
  plan.segments = {{"s4", UnitId{0}, {}, {}, {}, {}, {}, {}}};
  plan.instructions.resize(35);
  Instruction& peak = plan.instructions[34];
  peak.kind = InstructionKind::Backward;
  peak.unit = UnitId{0};
  peak.segment = SegmentId{0};
  RunSummary run = measured_summary();
  run.memory->peak_instruction = InstructionId{34};
  CHECK_THAT(summary_table(run, {}, &plan),
             test::contains_text("  peak allocated         200 MiB  in backward of layer 1\n"
                                 "                                  rank 0, in 34 Backward s4 mb0\n"));
}

TEST_CASE("a prediction says what it rests on and what it leaves out") {
  RunSummary run = measured_summary();
  run.kind = RunKind::predicted;
  run.ranks = 1;
  run.step_time.n = 1;
  run.memory.reset();
  run.fits.reset();
  run.mfu.reset();
  run.mfu_palm.reset();
  run.losses.clear();
  run.communication.clear();
  run.skipped_steps = 0;
  run.assumes = {"figures of X are estimates: " + std::string(60, 'a') + ", of its network", "even experts"};
  run.leaves_out = {"data loading", "library workspaces"};
  CHECK(summary_table(run, {}) ==
        R"(predicted, not calibrated, 1 rank, plan 0123456789ab
  step time               120 ms  1 step
  tokens per second       17,067
  exposed communication  12.0 ms  10.0 % of the step

assumed
  figures of X are estimates: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, of its
    network
  even experts

not in these figures
  data loading
  library workspaces
)");
}

TEST_CASE("the table of a comparison") {
  Comparison comparison;
  comparison.metrics = {
      {"step_time", MetricUnit::nanoseconds, 110e6, 120e6, 110.0 / 120 - 1, 0.15, Verdict::pass},
      {"peak_allocated", MetricUnit::bytes, 0x1p27, 0x1p28, -0.5, 0.02, Verdict::fail},
      {"mfu", MetricUnit::fraction, 0.4, std::nullopt, std::nullopt, std::nullopt, Verdict::not_judged}};
  comparison.instructions = {{InstructionId{34}, InstructionKind::Backward, "34 Backward s4 mb0",
                              milliseconds(5), milliseconds(8), 8.0 / 120}};
  comparison.memory =
      MemoryDifference{624, 623, 0.0123, InstructionId{3}, "3 AllGather u0", mebibytes(10), mebibytes(11)};
  comparison.workspace = UnpredictedWorkspace{mebibytes(1), InstructionId{34}, "34 Backward s4 mb0"};
  comparison.verdict = Verdict::fail;
  CHECK(comparison_table(comparison, {}) ==
        R"(                predicted  measured    error  tolerance  verdict
step_time          110 ms    120 ms   -8.3 %     15.0 %  pass
peak_allocated    128 MiB   256 MiB  -50.0 %      2.0 %  fail
mfu                40.0 %         -        -

largest differences  predicted  measured  difference  of step
34 Backward s4 mb0     5.00 ms   8.00 ms    -3.00 ms    6.7 %

live bytes after each instruction: 623 of 624 equal to the byte
  largest difference 1.2 % after 3 AllGather u0: 10.0 MiB against 11.0 MiB
unpredicted workspace of libraries: 1.00 MiB in 34 Backward s4 mb0

verdict: fail
)");
  CHECK_THAT(comparison_table(comparison, {.colour = true}), contains_text("verdict: \x1b[31mfail\x1b[0m"));
}

TEST_CASE("a comparison whose times are not judged says why") {
  Comparison comparison;
  comparison.metrics = {{"step_time", MetricUnit::nanoseconds, 110e6, 220e6, -0.5, 0.25, Verdict::not_judged},
                        {"peak_allocated", MetricUnit::bytes, 0x1p27, 0x1p27, 0.0, 0.02, Verdict::pass}};
  comparison.times_not_judged = "other programs took 38 % of the processors meanwhile";
  CHECK(comparison_table(comparison, {}) ==
        R"(                predicted  measured    error  tolerance  verdict
step_time          110 ms    220 ms  -50.0 %     25.0 %  not judged
peak_allocated    128 MiB   128 MiB  +0.00 %      2.0 %  pass

time not judged: other programs took 38 % of the processors meanwhile
verdict: not judged
)");
}

TEST_CASE("two runs of one kind are first and second") {
  Comparison comparison;
  comparison.first_kind = comparison.second_kind = RunKind::measured;
  comparison.metrics = {
      {"step_time", MetricUnit::nanoseconds, 1e6, 1e6, 0.0, std::nullopt, Verdict::not_judged}};
  CHECK(comparison_table(comparison, {}) ==
        "             first   second    error  tolerance  verdict\n"
        "step_time  1.00 ms  1.00 ms  +0.00 %\n");
}

TEST_CASE("the list of runs fits the terminal") {
  std::vector<RunEntry> runs = {entry(12, RunKind::measured, "llama3-8b-fsdp2-8xh100"),
                                entry(3, RunKind::predicted, "tiny")};
  runs[0].last_loss = 2.5;
  runs[0].fits = Fit::no;
  runs[0].tags = {"good", "kept"};
  runs[0].machine = "8 x H100-SXM (hgx-h100)";
  runs[0].implementation = Implementation::eager;
  CHECK(history_table(runs, {.width = 120}) ==
        R"(run  kind       name            strategy  machine        operators  ranks    step)"
        R"(  tokens/s       peak   loss  tags
r12  measured   llama3-8b-fs..  fsdp2     8 x H100-SX..  eager          2  120 ms    17,067  ! 200 MiB)"
        R"(  2.500  good kept
 r3  predicted  tiny            fsdp2                                   2  120 ms    17,067    200 MiB
)");
  CHECK(history_table(runs, {.width = 80}) ==
        R"(run  kind       name            machine         step  tokens/s       peak   loss
r12  measured   llama3-8b-fs..  8 x H100-S..  120 ms    17,067  ! 200 MiB  2.500
 r3  predicted  tiny                          120 ms    17,067    200 MiB
)");
  CHECK(history_table({}, {}) == "no runs\n");
}

TEST_CASE("runs of one name are told apart by what they changed") {
  const std::vector<RunEntry> runs = {entry(3, RunKind::predicted, "seventy"),
                                      entry(2, RunKind::predicted, "seventy"),
                                      entry(1, RunKind::predicted, "seventy")};
  const std::vector<ChangedSettings> changed = {
      {{"parallel.strategy", "fsdp2", "ddp"}, {"cluster.nodes", "8", "4"}},
      {{"train.sync", "last", "every"}},
      {}};
  CHECK(history_table(runs, {.width = 80}, changed) ==
        R"(run  kind       name     changed                  step  tokens/s     peak  loss
 r3  predicted  seventy  strategy=ddp, nodes=4  120 ms    17,067  200 MiB
 r2  predicted  seventy  sync=every             120 ms    17,067  200 MiB
 r1  predicted  seventy                         120 ms    17,067  200 MiB
)");
  CHECK_THAT(history_table(runs, {.width = 160}, changed),
             contains_text("seventy  parallel.strategy=ddp, cluster.nodes=4  "));
}

TEST_CASE("the summary of a plan") {
  PlannedScenario planned;
  planned.plan.steady = hand_made_plan();
  planned.graph.modules = {{"", "Model", std::nullopt, {}, {}},
                           {"model.layers.0", "Layer", ModuleId{0}, {}, {}}};
  planned.partition.units.resize(2);
  for (std::size_t i = 0; i < 2; ++i) planned.partition.units[i].modules = {make_id<ModuleId>(i)};
  const std::string text = plan_summary(planned, {});
  CHECK(text.substr(text.find(':')) ==
        R"(: fsdp2, 2 ranks, 1 micro-batch a step, 7 instructions
groups   shard (2)
streams  compute, all_gather, reduce_scatter
memory   40 B alive when a step begins

unit  module          class  parameters  padded  gathered  segments
root  (the model)     Model           0       0
u0    model.layers.0  Layer          20      20            s0

instruction    count     bytes
Forward            1
Backward           1
AllGather          1    1000 B
ReduceScatter      1  1.95 KiB
HostWait           1
OptimizerStep      1
ZeroGradients      1
)");
}
