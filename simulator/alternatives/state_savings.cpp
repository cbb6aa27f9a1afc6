#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "simulator/alternatives/savings.h"

namespace shardlab {
namespace {

using C = BufferClass;

double all_but_one_of(int parts) {
  return 1 - 1.0 / parts;
}

// Settings of the strategy that is left may have no effect under the one that takes its place.
std::string with_strategy(const ParallelSpec& parallel, std::string_view strategy) {
  ParallelSpec bare;
  bare.strategy = parallel.strategy;
  const bool alone = parallel == bare;
  return alone ? fmt::format("parallel.strategy={}", strategy)
               : fmt::format("parallel={{strategy: {}}}", strategy);
}

void add_strategies(const PlannedScenario& planned, Savings& savings) {
  const int ranks = planned.plan.steady.world_size;
  if (ranks < 2) return;
  for (const std::string_view strategy : facts_of(planned.scenario).shards_more)
    savings.push_back({with_strategy(*planned.scenario.parallel, strategy),
                       "shards more of the state over the ranks",
                       {C::parameter, C::gradient, C::gradient_shard, C::optimizer_state, C::reduce_buffer},
                       all_but_one_of(ranks)});
}

// The form that gives parameters back after forward, and shards at all.
void add_fsdp1_sharding(const ParallelSpec& parallel, Savings& savings) {
  const bool hybrid = is_hybrid(parallel.sharding);
  const Fsdp1Sharding full = hybrid ? Fsdp1Sharding::hybrid_shard : Fsdp1Sharding::full_shard;
  if (parallel.sharding == full) return;
  savings.push_back(
      {fmt::format("parallel.sharding={}", to_string(full)),
       replicates_state(parallel) ? "shards the state over the ranks" : "gathers again in backward",
       {C::gathered_parameters, C::parameter, C::parameter_shard, C::gradient, C::gradient_shard,
        C::optimizer_state}});
}

void add_offloads(const PlannedScenario& planned, Savings& savings) {
  const OffloadSpec& offload = *planned.scenario.offload;
  const StrategyFacts& facts = facts_of(planned.scenario);
  if (facts.offloads_optimizer && offload.optimizer == OffloadTarget::none)
    savings.push_back({"offload.optimizer=cpu",
                       "optimizer's state in host memory, updated there",
                       {C::optimizer_state, C::parameter_shard, C::gradient, C::gradient_shard}});
  if (facts.offloads_parameters && offload.parameters == OffloadTarget::none)
    savings.push_back({"offload.parameters=cpu",
                       "parameters and all that belongs to them in host memory",
                       {C::parameter, C::parameter_shard, C::gradient_shard, C::optimizer_state}});
}

}  // namespace

void add_state_savings(const PlannedScenario& planned, Savings& savings) {
  const ParallelSpec& parallel = *planned.scenario.parallel;
  const StrategyFacts& facts = facts_of(planned.scenario);
  add_strategies(planned, savings);
  if (accepts(facts, "parallel.sharding")) add_fsdp1_sharding(parallel, savings);
  const ResolvedMesh mesh = resolve_mesh(planned.scenario);
  if (facts.gathers_units && mesh.replicate > 1 && !replicates_state(parallel))
    savings.push_back({"parallel.mesh={replicate: 1}",
                       "shards over all ranks",
                       {C::parameter_shard, C::gradient_shard, C::optimizer_state},
                       all_but_one_of(mesh.replicate)});
  add_offloads(planned, savings);
}

}  // namespace shardlab
