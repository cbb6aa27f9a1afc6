#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/keys/sections.h"

namespace shardlab {
namespace {

const Keys<HostSpec>& host_keys() {
  static const Keys<HostSpec> keys{
      key("cores", &HostSpec::cores, kind::optional(kind::integer(1, 1 << 16)), "processor cores of a node"),
      key("memory", &HostSpec::memory, kind::optional(kind::size()), "main memory of a node"),
      key("pcie", &HostSpec::pcie_generation, kind::optional(kind::integer(1, 7)),
          "generation of the link between host and GPU"),
  };
  return keys;
}

const Keys<NvmeSpec>& nvme_keys() {
  static const Keys<NvmeSpec> keys{
      key("path", &NvmeSpec::path, kind::text(), "folder on the drive"),
      key("read", &NvmeSpec::read, kind::optional(kind::rate()), "attained rate of a node"),
      key("write", &NvmeSpec::write, kind::optional(kind::rate()), "attained rate of a node"),
  };
  return keys;
}

const Keys<SupposedHardware>& suppose_keys() {
  const auto factor = [] { return kind::number(0, 1000, true); };
  static const Keys<SupposedHardware> keys{
      key("memory", &SupposedHardware::memory, factor(),
          "as many times the memory of a GPU: a question about hardware that there is not"),
      key("inter_node", &SupposedHardware::inter_node, factor(),
          "as many times the rate of the network between nodes, where there are several"),
      key("intra_node", &SupposedHardware::intra_node, factor(),
          "as many times the rate of the links between the GPUs of a node"),
  };
  return keys;
}

const Keys<ClusterSpec>& allocator_keys() {
  static const Keys<ClusterSpec> keys{
      key("conf", &ClusterSpec::allocator_conf, kind::text(), "the text of PYTORCH_ALLOC_CONF"),
  };
  return keys;
}

// A nested map whose keys are members of the outer section.
Key<ClusterSpec> allocator_group() {
  const auto itself = [](const void* cluster) { return cluster; };
  const auto table = []() -> const KeyTable& { return allocator_keys().table(); };
  return {section_row("allocator", itself, table, {})};
}

}  // namespace

const Keys<ClusterSpec>& cluster_keys() {
  static const Keys<ClusterSpec> keys{
      key("node", &ClusterSpec::node, kind::text(), "name of a node in assets/hardware/nodes"),
      key("nodes", &ClusterSpec::nodes, kind::integer(1, 100'000), "number of nodes"),
      key("gpu", &ClusterSpec::gpu, kind::text(),
          "name of a GPU in assets/hardware/gpus, for a node described here"),
      key("gpus_per_node", &ClusterSpec::gpus_per_node, kind::integer(1, 1024), "GPUs used of each node",
          "all of a named node"),
      key("intra_node_link", &ClusterSpec::intra_node_link, kind::word_or_absent<IntraNodeLink>(),
          "link between the GPUs of a node", "nvlink where the GPU has it"),
      key("inter_node_gbps_per_gpu", &ClusterSpec::inter_node_gbps_per_gpu,
          kind::optional(kind::number(0, 1e6, true)), "network rate per GPU in Gbit/s, one direction",
          "that of the vendor's node with this GPU, where there is one"),
      section("host", &ClusterSpec::host, &host_keys),
      key("device", &ClusterSpec::device, kind::word_or_absent({DeviceKind::cpu}),
          "cpu: ranks on the processors of this machine"),
      key("ranks", &ClusterSpec::ranks, kind::integer(1, 4096), "processes, with device cpu",
          "required with device cpu"),
      key("threads_per_rank", &ClusterSpec::threads_per_rank, kind::integer(1, 1024),
          "compute threads of a process, with device cpu"),
      allocator_group(),
      key("memory_limit", &ClusterSpec::memory_limit, kind::optional(kind::size()),
          "memory a rank may use of its device"),
      section("nvme", &ClusterSpec::nvme, &nvme_keys),
      section("suppose", &ClusterSpec::suppose, &suppose_keys),
  };
  return keys;
}

}  // namespace shardlab
