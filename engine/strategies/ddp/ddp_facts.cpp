// What a scenario asks about DistributedDataParallel.
#include "engine/scenario/complaints.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_keys[] = {"parallel.ddp"};

void check_ranks(Complaints& c, int) {
  if (c.scenario.parallel->mesh.shard > 1)
    c.refuse("parallel.mesh.shard", "ddp shards nothing", "remove it, or use fsdp2");
}

constexpr UnsupportedKey k_unsupported[] = {{"parallel.ddp.static_graph", "false"}};

constexpr std::string_view k_aliases[] = {"distributeddataparallel", "distributed_data_parallel"};
constexpr std::string_view k_shards_more[] = {"fsdp2"};

}  // namespace

extern constexpr StrategyFacts k_ddp_facts{
    .framework = Framework::ddp,
    .keys = k_keys,
    .aliases = k_aliases,
    .shards_more = k_shards_more,
    .why_no_teacher = "ddp averages gradients, and a teacher has none: DistributedDataParallel refuses it",
    .copies_each_gradient = true,  // Reducer::mark_variable_ready_dense
    .reduces_in_cpp = true,
    .replicates = [](const ParallelSpec&) { return true; },
    .check_ranks = check_ranks,
    .unsupported = k_unsupported,
};

}  // namespace shardlab
