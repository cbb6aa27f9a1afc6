#include "engine/scenario/cluster_words.h"

#include <fmt/format.h>

#include "engine/scenario/resolve_device.h"

namespace shardlab {

Result<std::string> cluster_words(const ClusterSpec& cluster) {
  const auto device = resolve_device(cluster);
  if (!device && is_of_the_machine(device.error())) return fail(device.error());
  if (!device) return std::string();
  if (device->kind == DeviceKind::cpu)
    return device->threads > 1 ? fmt::format("{} x {} processors", device->ranks, device->threads)
                               : fmt::format("{} processor{}", device->ranks, device->ranks == 1 ? "" : "s");
  const std::string nodes = device->nodes > 1 ? fmt::format("{} x ", device->nodes) : "";
  const std::string node = cluster.node.empty() ? "" : fmt::format(" ({})", cluster.node);
  return fmt::format("{}{} x {}{}", nodes, device->ranks_per_node, device->name, node);
}

}  // namespace shardlab
