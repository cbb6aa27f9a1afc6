// Between nodes that a scenario describes by their GPU alone: the network of the node that the GPU's vendor
// builds (assets/hardware/usual_nodes.yaml).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardlab {

// A name in assets/hardware/nodes, for the name or alias of a GPU; none where nobody builds a usual one of
// it.
std::optional<std::string> usual_node(std::string_view gpu);

}  // namespace shardlab
