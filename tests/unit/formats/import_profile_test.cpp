// Traces of torch.profiler become runs: two ranks on GPUs, reckoned by hand in tests/data/profiler, and one
// that torch recorded on a processor.
#include "engine/formats/profiler/import_profile.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "engine/plan/text.h"
#include "engine/trace/check_trace.h"
#include "engine/trace/exposed_communication.h"
#include "engine/trace/memory_timeline.h"
#include "engine/trace/step_time.h"
#include "tests/catch.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

ImportedProfile imported(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) files.push_back(data_file("profiler/" + name));
  auto profile = import_profiles(files);
  REQUIRE_OK(profile);
  return *std::move(profile);
}

std::string error_of(const std::vector<ProfilerTrace>& traces, const std::vector<std::string>& names) {
  const auto profile = import_profiles(traces, names);
  return profile ? "" : to_string(profile.error());
}

}  // namespace

TEST_CASE("kernels of two ranks are one plan in host issue order, with kinds, streams and bytes") {
  const ImportedProfile run = imported({"cuda_rank0.json", "cuda_rank1.json"});
  CHECK(run.name == "cuda_rank0");
  const StepPlan& plan = run.plan.steady;
  CHECK(plan.world_size == 2);
  REQUIRE(plan.streams.size() == 2);
  CHECK(plan.streams[0].name == "stream_7");  // it computes
  CHECK(plan.streams[1].name == "stream_20");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i)
    labels.push_back(instruction_label(plan, make_id<InstructionId>(i)));
  CHECK(labels == std::vector<std::string>{
                      "0 Copy Memcpy_HtoD", "1 AllGather ncclDevKernel_AllGather_RING_LL",
                      "2 Forward cutlass::Kernel2", "3 Backward cutlass::Kernel2",
                      "4 ReduceScatter ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL",
                      "5 OptimizerStep multi_tensor_apply_kernel", "6 HostWait cudaDeviceSynchronize"});
  CHECK(plan.instructions[1].bytes == Bytes{2048});
  CHECK(plan.groups == std::vector<Group>{{{GroupDimension::world}, 2}});
  CHECK(plan.units[plan.instructions[2].unit->index()].module_path == "aten::addmm");
  // Compute that stood still waits for the collective that ended in the gap.
  CHECK(plan.instructions[2].waits == std::vector<InstructionId>{{1}});
  CHECK(plan.instructions[3].waits.empty());
  CHECK(plan.instructions[5].waits == std::vector<InstructionId>{{4}});
}

TEST_CASE("the plan round-trips as text, and every step follows it") {
  for (const auto& names : {std::vector<std::string>{"cuda_rank0.json", "cuda_rank1.json"},
                            std::vector<std::string>{"cpu_two_steps.json.gz"}}) {
    const ImportedProfile run = imported(names);
    for (const StepPlan* plan : run.plan.all()) {
      const auto again = parse_plan(to_text(*plan), "imported");
      REQUIRE_OK(again);
      CHECK(*again == *plan);
    }
    REQUIRE(run.trace.steps.size() == 2);
    for (const StepTrace& step : run.trace.steps)
      REQUIRE_OK(check_trace(run.plan.steady, plan_hash(run.plan.steady), step));
  }
}

TEST_CASE("times count from the step, to the nanosecond; exposed communication is found") {
  const ImportedProfile run = imported({"cuda_rank1.json", "cuda_rank0.json"});
  CHECK(run.trace.steps[0].step == 10);
  CHECK(run.trace.steps[1].step == 11);
  CHECK(step_time(run.trace.steps[0]) == microseconds(424));
  CHECK(run.trace.provenance.machine == "2 x NVIDIA H100 80GB HBM3");
  CHECK(run.memory_limit == Bytes{85017493504});
  const auto rank_of = [&](int rank) -> const RankTrace& {
    for (const RankTrace& each : run.trace.steps[1].ranks)
      if (each.rank == rank) return each;
    FAIL("no such rank");
    return run.trace.steps[1].ranks.front();
  };
  const Span& gather = rank_of(0).spans.at(1);
  CHECK(gather.issue == microseconds(5));
  CHECK(gather.start == microseconds(20));
  CHECK(gather.end == microseconds(90));
  CHECK(rank_of(0).spans.at(2).end == microseconds(220));
  CHECK(exposed_communication(run.plan.steady, rank_of(0)) == microseconds(70 + 65));
  CHECK(exposed_communication(run.plan.steady, rank_of(1)) == microseconds(85 + 65));
}

TEST_CASE("memory of the device follows the host's clock") {
  const ImportedProfile run = imported({"cuda_rank0.json"});
  std::vector<std::int64_t> peaks, live;
  for (const MemorySample& sample : run.trace.steps[0].ranks[0].memory) {
    peaks.push_back(sample.peak.value);
    live.push_back(sample.live.value);
  }
  CHECK(peaks == std::vector<std::int64_t>{1000, 1000, 5000, 8000, 8000, 4000, 4000});
  CHECK(live == std::vector<std::int64_t>{1000, 1000, 5000, 8000, 4000, 4000, 4000});
  CHECK(summarize_memory(run.plan.steady, run.trace.steps)->peak_instruction == InstructionId{3});
}

TEST_CASE("a processor's trace: outermost operators, the phases of the step, memory") {
  const ImportedProfile run = imported({"cpu_two_steps.json.gz"});
  CHECK(run.name == "cpu_two_steps");
  const StepPlan& plan = run.plan.steady;
  std::set<InstructionKind> kinds;
  std::set<std::string> forward;
  for (const Instruction& each : plan.instructions) {
    kinds.insert(each.kind);
    if (each.kind == InstructionKind::Forward) forward.insert(plan.units[each.unit->index()].name);
  }
  using K = InstructionKind;
  CHECK(kinds == std::set<K>{K::Forward, K::Backward, K::OptimizerStep});
  CHECK(forward.count("aten::linear") == 1);
  CHECK(forward.count("aten::addmm") == 0);  // inside of linear
  CHECK(run.trace.steps[0].step == 2);
  const RankTrace &first = run.trace.steps[0].ranks[0], &second = run.trace.steps[1].ranks[0];
  CHECK(first.spans.size() == second.spans.size());  // what repeats is the same instruction
  CHECK(second.spans.size() == plan.instructions.size());
  for (const MemorySample& sample : second.memory) CHECK(sample.peak >= sample.live);
  CHECK(second.memory.size() == plan.instructions.size());
  Nanoseconds last;
  for (const Span& span : second.spans) {  // one after the other on one thread
    CHECK(span.start >= last);
    last = span.end;
  }
}

TEST_CASE("what is no run is refused by name") {
  const auto read = [](const char* text) {
    auto trace = parse_profiler_trace(text, "t.json");
    REQUIRE_OK(trace);
    return *std::move(trace);
  };
  CHECK_THAT(error_of({read(R"({"traceEvents": []})")}, {"t.json"}),
             contains_text("no kernels and no operators"));
  CHECK_THAT(
      error_of({read(R"([{"ph":"X","cat":"Forward","name":"3 Forward s0","ts":1,"dur":2,"pid":1,"tid":1,)"
                     R"("args":{"instruction":3}}])")},
               {"t.json"}),
      contains_text("a trace that shardlab wrote"));
  const char* const outside =
      R"([{"ph":"X","cat":"cpu_op","name":"aten::add","ts":100,"dur":2,"pid":1,"tid":1},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","ts":1,"dur":2,"pid":1,"tid":1}])";
  CHECK_THAT(error_of({read(outside)}, {"t.json"}), contains_text("nothing ran in them"));
  const char* const ranked = R"({"distributedInfo":{"rank":3},"traceEvents":[{"ph":"X","cat":"cpu_op",
    "name":"aten::add","ts":1,"dur":2,"pid":1,"tid":1}]})";
  CHECK_THAT(error_of({read(ranked), read(ranked)}, {"a.json", "b.json"}),
             contains_text("b.json: is of rank 3, as a.json is"));
  CHECK_THAT(error_of({}, {}), contains_text("no file is given"));
}

TEST_CASE("a trace without marks of steps is one step") {
  const auto trace = parse_profiler_trace(
      R"([{"ph":"X","cat":"cpu_op","name":"aten::add","ts":10.5,"dur":2.25,"pid":1,"tid":1},
          {"ph":"X","cat":"cpu_op","name":"aten::add","ts":20,"dur":1,"pid":1,"tid":1}])",
      "t.json");
  REQUIRE_OK(trace);
  const auto run = import_profiles({*trace}, {"t.json"});
  REQUIRE_OK(run);
  REQUIRE(run->trace.steps.size() == 1);
  CHECK(run->plan.steady.instructions.size() == 2);
  CHECK(run->trace.steps[0].ranks[0].duration == Nanoseconds{10'500});
  CHECK(run->trace.steps[0].ranks[0].memory.empty());
}

namespace {

// What the importer makes of a few events of a host, with one process group of two ranks.
ImportedProfile of_events(const std::string& events, const std::string& info = R"("pg_count":1,)") {
  const auto trace = parse_profiler_trace(
      R"({"distributedInfo":{)" + info + R"("rank":0,"world_size":2},"traceEvents":[)" + events + "]}",
      "t.json");
  REQUIRE_OK(trace);
  auto run = import_profiles({*trace}, {"t.json"});
  REQUIRE_OK(run);
  return *std::move(run);
}

std::string event(const char* category, const std::string& name, int thread, int at, int duration,
                  const std::string& arguments = "") {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","ts":{},"dur":{},"pid":1,"tid":{},"args":{{{}}}}})",
                     category, name, at, duration, thread, arguments);
}

std::string gloo(const std::string& what, int thread, int at, int duration, const std::string& dimensions,
                 const std::string& type = "float") {
  return event("user_annotation", "gloo:" + what, thread, at, duration,
               fmt::format(R"("Input type":["{}"],"Input Dims":{},"Input Strides":[[1]])", type, dimensions));
}

std::vector<std::string> labels_of(const StepPlan& plan) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i)
    labels.push_back(instruction_label(plan, make_id<InstructionId>(i)));
  return labels;
}

bool leaves_out(const ImportedProfile& run, const std::string& words) {
  const auto& texts = run.trace.provenance.leaves_out;
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& each) { return each.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("Gloo's collectives are annotations with what goes in: the full side follows from the group") {
  const ImportedProfile run = of_events(
      event("cpu_op", "aten::add", 1, 0, 10) + "," + gloo("all_gather", 7, 20, 5, "[[3,4]]") + "," +
      gloo("all_reduce", 8, 30, 5, "[[10],[2]]", "c10::BFloat16") + "," +
      gloo("broadcast", 7, 40, 5, "[[]]", "double") + "," + event("cpu_op", "aten::mul", 1, 50, 10));
  const StepPlan& plan = run.plan.steady;
  CHECK(labels_of(plan) == std::vector<std::string>{"0 Forward aten::add", "1 AllGather gloo:all_gather",
                                                    "2 HostWait wait_for_gloo", "3 AllReduce gloo:all_reduce",
                                                    "4 HostWait wait_for_gloo", "5 Broadcast gloo:broadcast",
                                                    "6 HostWait wait_for_gloo", "7 Forward aten::mul"});
  CHECK(plan.instructions[1].bytes == Bytes{3 * 4 * 2 * 4});
  CHECK(plan.instructions[3].bytes == Bytes{12 * 2});
  CHECK(plan.instructions[5].bytes == Bytes{0});  // unknown
  CHECK(plan.instructions[4].waits == std::vector<InstructionId>{{3}});
  // The host stands still in all three, 15 us.
  CHECK(exposed_communication(plan, run.trace.steps[0].ranks[0]) == microseconds(15));
  CHECK(leaves_out(run, "bytes of collectives"));
  CHECK(plan.streams.size() == 2);  // the threads of Gloo are one lane while they take turns
  CHECK(plan.streams[1].name == "gloo");
}

TEST_CASE("a hook of FSDP inside autograd is no compute: what is done in it is, and the rest is waiting") {
  const ImportedProfile run = of_events(
      event("cpu_op", "autograd::engine::evaluate_function: AddBackward0", 1, 0, 100) + "," +
      event("user_annotation", "FSDP::pre_backward (layers.1)", 1, 5, 75) + "," +
      event("cpu_op", "aten::copy_", 1, 10, 10) + "," + gloo("all_gather", 7, 25, 50, "[[3,4]]") + "," +
      event("cpu_op", "AddBackward0", 1, 85, 10) + "," + event("cpu_op", "aten::neg", 1, 86, 5));
  CHECK(labels_of(run.plan.steady) ==
        std::vector<std::string>{"0 Backward aten::copy", "1 AllGather layers.1", "2 HostWait wait_for_gloo",
                                 "3 Backward AddBackward0"});
  CHECK(exposed_communication(run.plan.steady, run.trace.steps[0].ranks[0]) == microseconds(50));
}

TEST_CASE("a part of an unknown whole is unknown; threads of Gloo that work at the same time are apart") {
  const std::string events = event("cpu_op", "aten::add", 1, 0, 90) + "," +
                             gloo("all_gather", 7, 20, 9, "[[4]]") + "," +
                             gloo("reduce_scatter", 8, 25, 9, "[[6]]");
  const ImportedProfile several = of_events(events, R"("pg_count":3,)");
  CHECK(several.plan.steady.instructions[1].bytes == Bytes{0});
  CHECK(several.plan.steady.instructions[2].bytes == Bytes{24});  // the full side goes in
  CHECK(several.plan.steady.streams.size() == 3);
  CHECK_FALSE(leaves_out(of_events(events), "bytes of collectives"));
}

TEST_CASE("annotations of DDP, FSDP and DeepSpeed say which pass their operators are of") {
  const auto kind_inside = [](const std::string& annotation) {
    return of_events(event("user_annotation", annotation, 1, 0, 100) + "," +
                     event("cpu_op", "aten::add", 1, 10, 5))
        .plan.steady.instructions[0]
        .kind;
  };
  using K = InstructionKind;
  for (const char* name : {"DistributedDataParallel.forward", "FSDP::pre_forward (layers.0)",
                           "FullyShardedDataParallel.forward", "DeepSpeedEngine.forward", "my own words"})
    CHECK(kind_inside(name) == K::Forward);
  for (const char* name :
       {"FSDP::pre_backward (layers.0)", "FSDP::post_backward_reduce", "DeepSpeedEngine.backward",
        "FSDP::backward_prefetch for layers.1", "DeepSpeedEngine.allreduce_gradients",
        "FullyShardedDataParallel._post_backward_hook"})
    CHECK(kind_inside(name) == K::Backward);
  CHECK(kind_inside("DeepSpeedEngine.step") == K::OptimizerStep);
}

TEST_CASE("two ranks of FSDP2 over Gloo as torch 2.11 records them") {
  const ImportedProfile run = imported({"gloo_fsdp2_rank0.json.gz", "gloo_fsdp2_rank1.json.gz"});
  const StepPlan& plan = run.plan.steady;
  std::map<std::string, std::vector<std::int64_t>> bytes;  // by kind and module, in order of issue
  for (const Instruction& each : plan.instructions)
    if (is_collective(each.kind))
      bytes[fmt::format("{} {}", to_string(each.kind), plan.units[each.unit->index()].name)].push_back(
          each.bytes.value);
  // A layer has 10,304 elements of float32, the root 4,128; Gloo reduces with an all-reduce of the whole.
  const std::map<std::string, std::vector<std::int64_t>> expected = {
      {"AllGather root", {4 * 4128}},
      {"AllGather layers.0", {4 * 10304, 4 * 10304}},
      {"AllGather layers.1", {4 * 10304, 4 * 10304}},
      {"AllReduce root", {4 * 4128}},
      {"AllReduce layers.0", {4 * 10304}},
      {"AllReduce layers.1", {4 * 10304}}};
  CHECK(bytes == expected);
  CHECK(plan.groups == std::vector<Group>{{{GroupDimension::world}, 2}});
  REQUIRE(run.trace.steps.size() == 2);
  for (const StepTrace& step : run.trace.steps) {
    REQUIRE_OK(check_trace(plan, plan_hash(plan), step));
    REQUIRE(step.ranks.size() == 2);
    for (const RankTrace& rank : step.ranks) CHECK(exposed_communication(plan, rank) > Nanoseconds{});
  }
  CHECK(leaves_out(run, "memory that was allocated before the profile began"));
  CHECK_FALSE(leaves_out(run, "bytes of collectives"));
  CHECK_FALSE(leaves_out(imported({"cuda_rank0.json"}), "before the profile began"));
}
