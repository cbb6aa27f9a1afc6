#include "engine/scenario/resolve_device.h"

#include "engine/scenario/cluster_spec.h"

namespace shardlab {

Result<Device> resolve_device(const ClusterSpec& cluster) {
  ClusterRequest request;
  request.node = cluster.node;
  request.gpu = cluster.gpu;
  request.gpus_per_node = cluster.gpus_per_node;
  request.nodes = cluster.nodes;
  request.pcie_only = cluster.intra_node_link == IntraNodeLink::pcie;
  request.network_gbps_per_gpu = cluster.inter_node_gbps_per_gpu;
  request.cpu_ranks = cluster.device == DeviceKind::cpu ? cluster.ranks : 0;
  request.threads_per_rank = cluster.threads_per_rank;
  request.memory_limit = cluster.memory_limit;
  request.host_memory = cluster.host.memory;
  request.drive_read = cluster.nvme.read;
  request.drive_write = cluster.nvme.write;
  request.supposed = cluster.suppose;
  return describe_device(request);
}

Result<Device> resolve_device(const Scenario& scenario) {
  return resolve_device(*scenario.cluster);
}

int host_threads(const ClusterSpec& cluster) {
  return cluster.device == DeviceKind::cpu ? cluster.threads_per_rank : 0;
}

}  // namespace shardlab
