// Traces of torch.profiler become runs: two ranks on GPUs, reckoned by hand in tests/data/profiler, and one
// that torch recorded on a processor.
#include "engine/formats/profiler/import_profile.h"

#include <set>

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
