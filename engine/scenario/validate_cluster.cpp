#include <cstdint>
#include <initializer_list>
#include <utility>

#include <fmt/core.h>

#include "engine/base/parse.h"
#include "engine/scenario/complaints.h"
#include "engine/scenario/mesh.h"

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
  const ClusterSpec& cluster = c.scenario.cluster;
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
             {"allocator.conf", !cluster.allocator_conf.empty()}});
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
    if (cluster.nodes > 1)
      c.require(network, "cluster.inter_node_gbps_per_gpu", "the network between the nodes");
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
void check_reshard(Complaints& c, const std::string& key, const std::string& text, int shards) {
  const auto group = parse_integer(text);
  if (group && c.scenario.parallel.strategy == "native") {
    c.refuse(key, text + ": native keeps parameters whole or spreads them over all sharding ranks",
             "use true or false, or fsdp2");
    return;
  }
  if (!group || (*group < shards && shards % *group == 0)) return;
  c.refuse(key, fmt::format("{} is not a proper divisor of the {} sharding ranks", *group, shards),
           group_sizes(shards));
}

}  // namespace

void validate_mesh(Complaints& c) {
  const int ranks = world_size(c.scenario);
  const std::string& strategy = c.scenario.parallel.strategy;
  const std::string key = c.given("parallel.mesh") ? "parallel.mesh" : "parallel.strategy";
  if (strategy == "none" && ranks != 1) {
    c.refuse("parallel.strategy", fmt::format("none trains on one rank, the cluster has {}", ranks),
             "use ddp or fsdp2");
    return;
  }
  const MeshSpec& given = c.scenario.parallel.mesh;
  if (strategy == "ddp" && given.shard > 1)
    c.refuse("parallel.mesh.shard", "ddp shards nothing", "remove it, or use fsdp2");
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
  check_reshard(c, "parallel.reshard_after_forward", c.scenario.parallel.reshard_after_forward, mesh.shard);
  const std::vector<WrapOverride>& overrides = c.scenario.parallel.wrap.overrides;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const auto reshard = overrides[i].settings.find("reshard_after_forward");
    if (reshard == overrides[i].settings.end()) continue;
    check_reshard(c, fmt::format("parallel.wrap.overrides[{}].settings", i), reshard->second, mesh.shard);
  }
  const bool hybrid = is_hybrid(c.scenario.parallel.sharding);
  if (hybrid && mesh.replicate == 1)
    c.refuse("parallel.sharding", "hybrid sharding needs mesh.replicate above 1");
}

}  // namespace shardlab
