#include "engine/strategies/sharding_strategy.h"

#include "engine/scenario/parallel_spec.h"

namespace shardlab {

PrefetchDepths prefetch_depths_of(const Scenario& scenario) {
  const PrefetchSpec& prefetch = scenario.parallel->prefetch;
  return {prefetch.forward_depth, prefetch.backward_depth};
}

}  // namespace shardlab
