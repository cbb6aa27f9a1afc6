// Machines that can be rented or bought: assets/hardware/nodes/<name>.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/hardware/description.h"
#include "engine/hardware/gpu.h"

namespace shardlab {

struct Node {
  std::string name;
  std::string gpu;  // a name that find_gpu knows
  int gpus = 0;
  int nics = 0;
  std::string fabric;
  BytesPerSecond network;              // of the whole node, one direction; 0: none
  double network_efficiency = 0;       // attained share in a large ring
  double network_latency_seconds = 0;  // that it adds to a collective, beside InfiniBand's
  int nvlink_domain_gpus = 0;          // GPUs that share one NVLink switch across nodes; 0: those of the node
  Bytes host_memory;
  int host_threads = 0;
  std::optional<BytesPerSecond> nvme_read;
  std::optional<BytesPerSecond> nvme_write;
  std::optional<double> watts;
  std::optional<double> dollars_per_hour;
  std::string notes;
  FigureSources provenance;
};

// A node by its file's name or an alias, in upper or lower case; bad_input when there is none.
Result<Node> find_node(std::string_view name);

std::vector<std::string> node_names();

}  // namespace shardlab
