#include "engine/hardware/usual_network.h"

#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"
#include "engine/hardware/catalogue.h"

namespace shardlab {

std::optional<std::string> usual_node(std::string_view gpu) {
  const auto description = find_description("gpus", gpu, "GPU");
  const auto path = find_asset("hardware/usual_nodes.yaml");
  if (!description || !path) return std::nullopt;
  const auto nodes = read_shipped_yaml(*path);
  const YamlNode* const found = nodes ? (*nodes)->find(description->stem().string()) : nullptr;
  return found == nullptr ? std::nullopt : std::optional(found->text);
}

}  // namespace shardlab
