#include "engine/hardware/name_hints.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "engine/base/parse.h"
#include "engine/hardware/catalogue.h"
#include "engine/hardware/gpu.h"
#include "engine/hardware/node.h"

namespace shardlab {
namespace {

// "8xH100" taken apart.
struct Several {
  std::int64_t count = 0;
  std::string_view name;
};

std::optional<Several> several(std::string_view text) {
  const std::size_t x = text.find_first_of("xX");
  if (x == std::string_view::npos) return std::nullopt;
  const auto count = parse_integer(text.substr(0, x));
  std::string_view name = text.substr(x + 1);
  while (!name.empty() && (name.front() == ' ' || name.front() == '-')) name.remove_prefix(1);
  return count && *count > 0 ? std::optional(Several{*count, name}) : std::nullopt;
}

// The name of the file that a name or an alias means; none where there is none.
std::optional<std::string> found(std::string_view folder, std::string_view name) {
  const auto path = find_description(folder, name, "");
  return path ? std::optional(path->stem().string()) : std::nullopt;
}

// Names of the nodes with this GPU; `count` of them unless it is 0.
std::vector<std::string> nodes_with(const std::string& gpu, std::int64_t count) {
  std::vector<std::string> names;
  for (const std::string& name : node_names()) {
    const auto node = find_node(name);
    if (node && node->gpu == gpu && (count == 0 || node->gpus == count)) names.push_back(name);
  }
  return names;
}

std::string as_gpu(const std::string& gpu, std::int64_t count) {
  return fmt::format("cluster: {{gpu: {}, gpus_per_node: {}}}", gpu, count > 0 ? count : 8);
}

}  // namespace

std::string hint_for_gpu(std::string_view name) {
  if (const auto node = found("nodes", name))
    return fmt::format("'{}' is a node: cluster: {{node: {}}}", name, *node);
  const auto counted = several(name);
  const auto gpu = counted ? found("gpus", counted->name) : std::nullopt;
  return gpu ? "write " + as_gpu(*gpu, counted->count) : "";
}

std::string hint_for_node(std::string_view name) {
  const auto counted = several(name);
  const std::int64_t count = counted ? counted->count : 0;
  const auto gpu = found("gpus", counted ? counted->name : name);
  if (!gpu) return "";
  const std::vector<std::string> nodes = nodes_with(*gpu, count);
  const std::string alone = "write " + as_gpu(*gpu, count);
  return nodes.empty() ? alone : fmt::format("{}; nodes with {}: {}", alone, *gpu, fmt::join(nodes, ", "));
}

tl::unexpected<Error> with_hint(Error error, std::string hint) {
  if (!hint.empty()) error.hint = std::move(hint);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace shardlab
