#include "engine/formats/profiler/seen_plan.h"

#include "engine/formats/profiler/profiler_trace.h"
#include "tests/catch.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

ProfilerTrace trace_of(const std::string& events, int world = 2) {
  const auto trace =
      parse_profiler_trace("{\"distributedInfo\": {\"rank\": 0, \"world_size\": " + std::to_string(world) +
                               ", \"pg_count\": 2}, \"traceEvents\": [" + events + "]}",
                           "made up");
  REQUIRE_OK(trace);
  return *trace;
}

std::string annotation(const std::string& name, int at) {
  return "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"" + name +
         "\", \"pid\": 1, \"tid\": 1, \"ts\": " + std::to_string(at) + ", \"dur\": 1}";
}

std::string gather(int group_size, int at) {
  return "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllGather_RING_LL\", \"pid\": 0, "
         "\"tid\": 7, "
         "\"ts\": " +
         std::to_string(at) +
         ", \"dur\": 1, \"args\": {\"Collective name\": \"_allgather_base\", "
         "\"dtype\": \"BFloat16\", \"In msg nelems\": 8, \"Out msg nelems\": 32, \"Group size\": " +
         std::to_string(group_size) + "}}";
}

}  // namespace

TEST_CASE("gathers among fewer ranks than there are shard within replicas") {
  const auto plan =
      seen_plan({trace_of(annotation("FSDP::pre_forward", 1) + ", " + annotation("FSDP::all_gather", 1) +
                              ", " + annotation("FSDP::pre_forward (model.layers.0)", 2) + ", " +
                              annotation("FSDP::pre_forward (model.layers.1)", 3) + ", " + gather(4, 4),
                          8)});
  REQUIRE(plan);
  REQUIRE(plan->find("parallel.mesh.replicate") != nullptr);
  CHECK(plan->find("parallel.mesh.replicate")->value == "2");
  CHECK(plan->find("precision.param")->value == "bfloat16");
  // Without stacks the class is not known, and nobody makes one up.
  CHECK(plan->find("parallel.wrap.classes") == nullptr);
  CHECK(plan->words == "FSDP2 of a model of 2 layers (model.layers), 1 gather a step");
}

TEST_CASE("more ranks than a node usually has are whole nodes, as a guess") {
  const auto plan = seen_plan({trace_of(annotation("DistributedDataParallel.forward", 1), 32)});
  REQUIRE(plan);
  CHECK(*plan->find("cluster.nodes") ==
        SeenSetting{"cluster.nodes", "4", Sureness::guessed, "eight ranks a node"});
  CHECK(plan->find("cluster.gpus_per_node")->value == "8");
}

TEST_CASE("an engine without the names of its stage is a guess") {
  const auto plan = seen_plan({trace_of(annotation("DeepSpeedEngine.forward", 1) + ", " + gather(2, 2))});
  REQUIRE(plan);
  CHECK(plan->find("parallel.strategy")->sure == Sureness::guessed);
  CHECK(plan->words == "DeepSpeed of a model, its stage is not seen");
}

TEST_CASE("a trace without marks shows no plan") {
  CHECK_FALSE(seen_plan({trace_of(annotation("my own step", 1) + ", " + gather(2, 2))}));
  CHECK_FALSE(seen_plan({}));
}
