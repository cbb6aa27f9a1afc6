#include <cstdint>
#include <initializer_list>
#include <utility>

#include <fmt/core.h>

#include "engine/base/parse.h"
#include "engine/hardware/gpu.h"
#include "engine/hardware/usual_network.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Keys of one form of cluster beside another form.
void exclude(Complaints& c, const char* form, std::initializer_list<std::pair<const char*, bool>> given) {
  for (const auto& [key, is_given] : given) {
    if (is_given)
      c.refuse(fmt::format("cluster.{}", key), fmt::format("has no effect with cluster.{}", form),
               "remove one of the two");
  }
}

}  // namespace

void validate_cluster(Complaints& c) {
  const ClusterSpec& cluster = *c.scenario.cluster;
  const ClusterSpec defaults;
  const bool host = cluster.host != defaults.host, network = cluster.inter_node_gbps_per_gpu.has_value();
  if (cluster.device == DeviceKind::cpu) {
    exclude(c, "device",
            {{"node", !cluster.node.empty()},
             {"nodes", cluster.nodes != 1},
             {"gpu", !cluster.gpu.empty()},
             {"gpus_per_node", cluster.gpus_per_node != 0},
             {"intra_node_link", cluster.intra_node_link.has_value()},
             {"inter_node_gbps_per_gpu", network},
             {"allocator.conf", !cluster.allocator_conf.empty()},
             {"suppose", cluster.suppose != defaults.suppose}});
    c.require(cluster.ranks > 0, "cluster.ranks", "the number of processes");
    return;
  }
  const char* const form = cluster.node.empty() ? "gpu" : "node";
  if (!cluster.node.empty()) {
    exclude(c, "node",
            {{"gpu", !cluster.gpu.empty()},
             {"intra_node_link", cluster.intra_node_link.has_value()},
             {"inter_node_gbps_per_gpu", network},
             {"host", host}});
  } else if (!cluster.gpu.empty()) {
    c.require(cluster.gpus_per_node > 0, "cluster.gpus_per_node");
    if (cluster.nodes > 1 && find_gpu(cluster.gpu) && !usual_node(cluster.gpu))
      c.require(network, "cluster.inter_node_gbps_per_gpu",
                fmt::format("the network between the nodes: no usual one of {} is known", cluster.gpu));
    if (cluster.nodes == 1 && network)
      c.refuse("cluster.inter_node_gbps_per_gpu", "has no effect with one node",
               "remove it, or raise cluster.nodes");
  } else {
    c.refuse("cluster", "is required",
             "{device: cpu, ranks: 2}, {node: hgx-h100, nodes: 1} or {gpu: H100-SXM, gpus_per_node: 8}");
  }
  exclude(c, form, {{"ranks", cluster.ranks != 0}, {"threads_per_rank", cluster.threads_per_rank != 1}});
}

namespace {

// The choices there are: proper divisors, and true for all ranks.
std::string group_sizes(int shards) {
  std::string sizes = "use ";
  for (int size = 2; size <= shards / 2; ++size) {
    if (shards % size == 0) sizes += fmt::format("{}, ", size);
  }
  return sizes + "or true for all";
}

// An integer: the size of the group that keeps the parameters.
void check_reshard(Complaints& c, const std::string& key, const ReshardAfterForward& reshard, int shards) {
  if (reshard.kind != ReshardKind::to_ranks) return;
  const std::string_view why_not = facts_of(c.scenario).why_no_subgroups;
  if (!why_not.empty()) {
    c.refuse(key, fmt::format("{}: {}", reshard.ranks, why_not),
             "use true or false, or " + proposed_for("parallel.reshard_after_forward"));
    return;
  }
  if (reshard.ranks < shards && shards % reshard.ranks == 0) return;
  c.refuse(key, fmt::format("{} is not a proper divisor of the {} sharding ranks", reshard.ranks, shards),
           group_sizes(shards));
}

}  // namespace

void validate_mesh(Complaints& c) {
  const int ranks = world_size(c.scenario);
  const std::string key = c.given("parallel.mesh") ? "parallel.mesh" : "parallel.strategy";
  if (const auto check_ranks = facts_of(c.scenario).check_ranks; check_ranks != nullptr) {
    check_ranks(c, ranks);
    if (!c.problems.empty()) return;
  }
  const ResolvedMesh mesh = resolve_mesh(c.scenario);
  // In 64 bits: each dimension may be a million.
  const std::int64_t product = std::int64_t{mesh.replicate} * mesh.shard;
  const std::int64_t rest = std::int64_t{mesh.tensor} * mesh.expert;
  if (product > ranks || rest > ranks || product * rest != ranks) {
    c.refuse(
        key,
        fmt::format(
            "impossible mesh: replicate {} x shard {} x tensor {} x expert {} is not the cluster's {} rank{}",
            mesh.replicate, mesh.shard, mesh.tensor, mesh.expert, ranks, ranks == 1 ? "" : "s"));
    return;
  }
  check_reshard(c, "parallel.reshard_after_forward", c.scenario.parallel->reshard_after_forward, mesh.shard);
  const std::vector<WrapOverride>& overrides = c.scenario.parallel->wrap.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto reshard = overrides[i].settings.find("reshard_after_forward");
    if (reshard == overrides[i].settings.end()) continue;
    check_reshard(c, fmt::format("parallel.wrap.overrides[{}].settings", i),
                  *parse_reshard_after_forward(reshard->second), mesh.shard);
  }
  const bool hybrid = is_hybrid(c.scenario.parallel->sharding);
  if (hybrid && mesh.replicate == 1)
    c.refuse("parallel.sharding", "hybrid sharding needs mesh.replicate above 1");
}

void validate_strategy(Complaints& c) {
  const StrategyFacts& facts = facts_of(c.scenario);
  if (facts.check != nullptr) facts.check(c, resolve_mesh(c.scenario));
}

}  // namespace shardlab
