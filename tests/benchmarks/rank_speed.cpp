// How long it takes to simulate every rank of a large cluster, each at its own speed: the steady step of
// Llama-3-70B, 80 layers, one core. The target is that of a thousand ranks.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/base/paths.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "simulator/spread/spread.h"
#include "tests/benchmarks/required.h"

namespace shardlab {
namespace {

constexpr double k_target_seconds = 2;

// The fastest of three.
template <typename Work>
double seconds_of(const Work& work) {
  double fastest = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, took.count());
  }
  return fastest;
}

void run(int nodes, const std::string& parallel, bool judged) {
  const std::vector<std::string> overrides{fmt::format("cluster={{node: dgx-h100, nodes: {}}}", nodes),
                                           "parallel=" + parallel};
  const auto file = required(find_scenario("validation/llama-80-layers.yaml"));
  const Scenario scenario = required(read_scenario(file, overrides));
  PlannedScenario planned = required(plan_scenario(scenario));
  const Device device = required(resolve_device(*scenario.cluster));
  const std::size_t instructions = planned.plan.steady.instructions.size();
  planned.plan.setup = planned.plan.first = StepPlan{};
  const Spread spread = required(read_spread());
  const double alone = seconds_of([&] { required(simulate({planned, device}, HashedPlans::left_out)); });
  const double all = seconds_of([&] {
    required(simulate({planned, device, nullptr, &spread}, HashedPlans::left_out));
  });
  fmt::print("  {:>5} ranks, {}: {} instructions a rank, {:.2f} s ({:.4f} s for one rank)", device.ranks,
             parallel, instructions, all, alone);
  if (judged) fmt::print("  target {} s: {}", k_target_seconds, all <= k_target_seconds ? "met" : "NOT MET");
  fmt::print("\n");
}

}  // namespace
}  // namespace shardlab

int main() {
  fmt::print("a step with all ranks, Llama-3-70B\n");
  shardlab::run(8, "{strategy: fsdp2}", false);
  shardlab::run(128, "{strategy: fsdp2}", true);
  shardlab::run(128, "{strategy: fsdp2, mesh: {replicate: 128, shard: 8}}", true);
}
