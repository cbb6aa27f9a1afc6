// What a scenario asks about `none`, the single process.
#include <fmt/core.h>

#include "engine/scenario/complaints.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// A teacher may be whole on every rank: nothing has to be kept equal.
void check_ranks(Complaints& c, int ranks) {
  if (ranks != 1 && !c.teacher)
    c.refuse("parallel.strategy", fmt::format("none trains on one rank, the cluster has {}", ranks),
             "use ddp or fsdp2");
}

}  // namespace

extern constexpr StrategyFacts k_none_facts{
    .replicates = [](const ParallelSpec&) { return true; },
    .check_ranks = check_ranks,
    .updates_in_backward = true,
};

}  // namespace shardlab
