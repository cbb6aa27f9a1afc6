// How long it takes to build, check and simulate a large plan: Llama-3-70B, 80 layers over 64 ranks, FSDP2
// and FSDP1, one micro-batch.
//
// Prints medians on one core. The target of 5 ms is for one step: its graph, partition, steady plan, check
// and simulation; that of 1 ms for the plan and its check, given the units and segments (with them beside
// it).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "engine/base/paths.h"
#include "engine/model/wrap/wrap_modules.h"
#include "engine/passes/free_activations.h"
#include "engine/plan/check.h"
#include "engine/planner/load_model.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/driver.h"
#include "engine/strategies/optimizer_tail.h"
#include "simulator/simulate.h"
#include "tests/benchmarks/required.h"

namespace shardlab {
namespace {

constexpr int k_repeats = 100;
constexpr double k_target_ms = 5;
constexpr double k_plan_target_ms = 1;

struct Timing {
  double median_ms = 0;
  double fastest_ms = 0;
};

Timing time_of(const std::function<void()>& work) {
  std::vector<double> samples;
  for (int i = 0; i < k_repeats + 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 5) samples.push_back(took.count());
  }
  std::sort(samples.begin(), samples.end());
  return {samples[samples.size() / 2], samples.front()};
}

double print(const char* part, const Timing& timing) {
  fmt::print("  {:<42} {:8.3f} ms  (fastest {:.3f})\n", part, timing.median_ms, timing.fastest_ms);
  return timing.median_ms;
}

// The steady plan by the parts that plan_scenario puts together.
StepPlan steady_plan(const PlannedScenario& planned, const StrategyType& type) {
  StepBuilder builder(planned.graph, planned.partition, PlanPhase::steady,
                      planned.scenario.parallel->strategy);
  StepStrategies strategies(builder, type.make(builder, planned.scenario));
  strategies.student().declare_persistent();
  drive_step(builder, strategies, planned.scenario);
  emit_optimizer_tail(builder, strategies.student(), *planned.scenario.train);
  return free_activations(builder.finish());
}

void run(const std::string& strategy) {
  const std::filesystem::path file = required(find_scenario("validation/llama-80-layers.yaml"));
  const Scenario scenario =
      required(read_scenario(file, std::vector<std::string>{"parallel={strategy: " + strategy + "}"}));
  const Device device = required(resolve_device(*scenario.cluster));
  const PlannedScenario planned = required(plan_scenario(scenario));
  const StrategyType type = required(find_strategy(scenario.parallel->strategy));
  const WrappedModules wrapped = required(wrap_modules(planned.graph, scenario.parallel->wrap));
  PlannedScenario one_step = planned;
  one_step.plan.setup = one_step.plan.first = StepPlan{};

  fmt::print("{} under {}: {} operators, {} segments, {} instructions in the steady step, {} repeats\n",
             scenario.name, strategy, planned.graph.operators.size(), planned.partition.segments.size(),
             planned.plan.steady.instructions.size(), k_repeats);
  double sum = 0;
  sum += print("graph", time_of([&] { required(load_model_graph(scenario)); }));
  const double cut = print("units and segments", time_of([&] {
                             make_partition(planned.graph, wrapped.units, type.cuts(planned.graph, scenario));
                           }));
  double planning = print("steady plan", time_of([&] { steady_plan(planned, type); }));
  planning += print("check of the steady plan", time_of([&] {
                      if (const Status sound = check_plan(planned.plan.steady); !sound) std::exit(1);
                    }));
  sum += cut + planning;
  sum += print("simulation of the steady step", time_of([&] { required(simulate({one_step, device})); }));
  fmt::print("  {:<42} {:8.3f} ms  target {} ms: {}\n", "sum for one step", sum, k_target_ms,
             sum <= k_target_ms ? "met" : "NOT MET");
  fmt::print("  {:<42} {:8.3f} ms  target {} ms: {}; {:.3f} ms with units and segments\n",
             "building and checking the plan", planning, k_plan_target_ms,
             planning <= k_plan_target_ms ? "met" : "NOT MET", planning + cut);
  fmt::print("and, not part of the sum:\n");
  print("plan_scenario: setup, first, steady, check", time_of([&] { required(plan_scenario(scenario)); }));
  print("simulate: setup, first, steady", time_of([&] { required(simulate({planned, device})); }));
  print("reading the scenario", time_of([&] { required(read_scenario(file)); }));
}

}  // namespace
}  // namespace shardlab

int main() {
  for (const char* strategy : {"fsdp2", "fsdp1"}) shardlab::run(strategy);
}
