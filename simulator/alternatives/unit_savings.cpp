#include <utility>

#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "simulator/alternatives/savings.h"

namespace shardlab {
namespace {

using C = BufferClass;

bool has_buckets(const StepPlan& plan) {
  for (const Buffer& buffer : plan.buffers)
    if (buffer.role == BufferRole::bucket) return true;
  return false;
}

bool gathers(const StepPlan& plan) {
  for (const Buffer& buffer : plan.buffers)
    if (buffer.buffer_class == C::gathered_parameters) return true;
  return false;
}

void add_prefetch_savings(const PrefetchSpec& prefetch, bool gathers, Savings& savings) {
  const std::vector<BufferClass> gathered = {C::gathered_parameters, C::gather_buffer};
  if (gathers && prefetch.backward != BackwardPrefetch::none)
    savings.push_back({"parallel.prefetch.backward=none", "gathers nothing ahead in backward", gathered});
  if (prefetch.backward_depth > 0)
    savings.push_back(
        {"parallel.prefetch.backward_depth=0", "gathers fewer units ahead in backward", gathered});
  if (prefetch.forward_depth > 0)
    savings.push_back(
        {"parallel.prefetch.forward_depth=0", "gathers fewer units ahead in forward", gathered});
  if (!prefetch.limit_all_gathers)
    savings.push_back(
        {"parallel.prefetch.limit_all_gathers=true", "two gathers in flight at most", gathered});
}

}  // namespace

void add_unit_savings(const PlannedScenario& planned, Savings& savings) {
  const ParallelSpec& parallel = *planned.scenario.parallel;
  const TrainSpec& train = *planned.scenario.train;
  const StrategyFacts& facts = facts_of(planned.scenario);
  const bool gathering = gathers(planned.plan.steady);
  if (train.accumulation > 1 && train.sync == GradientSync::last && gathering)
    savings.push_back(
        {"train.sync=every", "keeps only shards of gradients", {C::gradient, C::reduce_buffer}});
  if (gathering)
    savings.push_back(
        {"parallel.reshard_after_forward=true", "gathers again in backward", {C::gathered_parameters}});
  if (!parallel.reshard_after_backward)
    savings.push_back({"parallel.reshard_after_backward=true",
                       "gathers again for each micro-batch",
                       {C::gathered_parameters}});
  if (facts.gathers_units && parallel.wrap.policy != WrapPolicyKind::transformer)
    savings.push_back({"parallel.wrap={policy: transformer}",
                       "gathers a layer at a time",
                       {C::gathered_parameters, C::gather_buffer, C::gradient, C::reduce_buffer}});
  add_prefetch_savings(parallel.prefetch, gathering, savings);
  if (has_buckets(planned.plan.steady) && !parallel.ddp.gradient_as_bucket_view)
    savings.push_back({"parallel.ddp.gradient_as_bucket_view=true",
                       "gradients live in the buckets",
                       {C::gradient, C::reduce_buffer}});
}

}  // namespace shardlab
