// What DeepSpeed takes while it is set up, by hand.
#include "simulator/memory/allocations/step_allocations.h"

#include <algorithm>
#include <map>

#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

PlannedScenario planned(const std::string& strategy, const std::string& param) {
  return test::small_scenario("parallel: {strategy: " + strategy + "}\nprecision: {param: " + param + "}",
                              "clip_norm: 1.0", "{device: cpu, ranks: 8}");
}

// The most that lives at once.
Bytes peak(const PlannedScenario& scenario, Bytes device = {}) {
  const auto made = step_allocations(scenario, scenario.plan.setup, WhoseStorages::framework, device);
  REQUIRE_OK(made);
  std::map<StorageIndex, Bytes> alive;
  Bytes live, most;
  for (const AllocationCall& call : made->calls) {
    if (call.kind == CallKind::empty_cache) continue;
    if (call.kind == CallKind::take) {
      alive[call.storage] = call.bytes;
      live += call.bytes;
    } else {
      live -= alive.at(call.storage);
      alive.erase(call.storage);
    }
    most = std::max(most, live);
  }
  return most;
}

Bytes model_of(const PlannedScenario& scenario, DType dtype) {
  Bytes sum;
  for (const Parameter& parameter : scenario.graph.parameters) sum += bytes_of(parameter.elements(), dtype);
  return sum;
}

std::int64_t emptied(const PlannedScenario& scenario, Bytes device = {}) {
  const auto made = step_allocations(scenario, scenario.plan.setup, WhoseStorages::framework, device);
  REQUIRE_OK(made);
  return std::count_if(made->calls.begin(), made->calls.end(),
                       [](const AllocationCall& call) { return call.kind == CallKind::empty_cache; });
}

TEST_CASE("ZeRO-2 has the model beside the vector it is joined to, where the device has room") {
  const PlannedScenario scenario = planned("zero2", "bfloat16");
  const Bytes model = model_of(scenario, DType::bfloat16);
  CHECK(peak(scenario) >= model * 2);
  CHECK(peak(scenario).value < model.value * 21 / 10);
  // The vector, this rank's eighth in float32, which is a quarter of it, and as much for a gradient.
  CHECK(peak(scenario, Bytes{model.value * 3 / 2}).value < model.value * 16 / 10);
  CHECK(emptied(scenario) == 0);
  CHECK(emptied(scenario, Bytes{model.value * 3 / 2}) == 1);
}

TEST_CASE("ZeRO-3 joins its shards to one tensor when what was cached is given back") {
  const PlannedScenario scenario = planned("zero3", "bfloat16");
  CHECK(emptied(scenario) == 1);
  const auto made = step_allocations(scenario, scenario.plan.setup, WhoseStorages::framework);
  REQUIRE_OK(made);
  const auto shards = std::count_if(made->kept.begin(), made->kept.end(), [](const LastingStorage& storage) {
    return storage.buffer.starts_with("shard.");
  });
  CHECK(shards == 1);
}

TEST_CASE("secondary shards of hpZ are tensors of their own, beside the one of all shards") {
  const PlannedScenario scenario = test::small_scenario(
      "parallel: {strategy: zero3, zero: {zero_hpz_partition_size: 2}}\n"
      "precision: {param: bfloat16}",
      "clip_norm: 1.0", "{device: cpu, ranks: 8}");
  const auto made = step_allocations(scenario, scenario.plan.setup, WhoseStorages::framework);
  REQUIRE_OK(made);
  Bytes shards;
  std::size_t secondary = 0;
  for (const LastingStorage& kept : made->kept) {
    if (kept.buffer.starts_with("shard.")) shards += kept.bytes;
    if (kept.buffer.starts_with("secondary.")) ++secondary;
  }
  CHECK(secondary == scenario.graph.parameters.size());
  // An eighth of the model, each parameter rounded up to a multiple of the ranks.
  CHECK(shards >= Bytes{model_of(scenario, DType::bfloat16).value / 8});
  CHECK(shards.value <
        model_of(scenario, DType::bfloat16).value / 8 + 2 * 8 * std::ssize(scenario.graph.parameters));
}

TEST_CASE("the executor of our own takes nothing on the way") {
  const PlannedScenario scenario = planned("zero2", "bfloat16");
  const auto made = step_allocations(scenario, scenario.plan.setup, WhoseStorages::executor);
  REQUIRE_OK(made);
  CHECK(std::none_of(made->calls.begin(), made->calls.end(),
                     [](const AllocationCall& call) { return call.kind != CallKind::take; }));
}

}  // namespace
}  // namespace shardlab
