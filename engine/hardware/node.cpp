#include "engine/hardware/node.h"

#include "engine/hardware/catalogue.h"
#include "engine/hardware/description.h"
#include "engine/hardware/name_hints.h"

namespace shardlab {

Result<Node> find_node(std::string_view name) {
  const auto path = find_description("nodes", name, "node");
  if (!path) return with_hint(path.error(), hint_for_node(name));
  SHARDLAB_TRY(Description file, Description::read(*path));
  Node node;
  node.name = file.text("name");
  node.gpu = file.text("gpu");
  node.fabric = file.text("fabric");
  node.notes = file.optional_text("notes");
  node.gpus = file.count("figures", "gpus");
  node.nics = file.count("figures", "nics");
  file.optional_figure("figures", "nic_bits_per_second");
  node.network = {file.figure("figures", "network")};
  node.network_efficiency = file.figure("figures", "network_efficiency");
  node.network_latency_seconds = file.optional_figure("figures", "network_latency_seconds").value_or(0);
  node.nvlink_domain_gpus = file.count("figures", "nvlink_domain_gpus");
  node.host_memory = {static_cast<std::int64_t>(file.figure("figures", "host_memory"))};
  node.host_threads = file.count("figures", "host_threads");
  if (const auto rate = file.optional_figure("figures", "nvme_read")) node.nvme_read = BytesPerSecond{*rate};
  if (const auto rate = file.optional_figure("figures", "nvme_write"))
    node.nvme_write = BytesPerSecond{*rate};
  node.watts = file.optional_figure("figures", "watts");
  node.dollars_per_hour = file.optional_figure("figures", "dollars_per_hour");
  SHARDLAB_CHECK_OK(file.finish());
  node.provenance = file.provenance();
  return node;
}

std::vector<std::string> node_names() {
  return described_names("nodes");
}

}  // namespace shardlab
