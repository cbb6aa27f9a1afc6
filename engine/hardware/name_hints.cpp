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

struct Several {
  std::int64_t count = 0;
  std::string_view name;
};

std::string_view without_ends(std::string_view text) {
  constexpr std::string_view k_between = " -_";
  const std::size_t begin = std::min(text.find_first_not_of(k_between), text.size());
  return text.substr(begin, text.find_last_not_of(k_between) + 1 - begin);
}

std::optional<Several> counted(std::string_view number, std::string_view name) {
  const auto count = parse_integer(without_ends(number));
  return count && *count > 0 ? std::optional(Several{*count, without_ends(name)}) : std::nullopt;
}

// "8xH100", "8 x H100", "H100x8", Lambda's "gpu_8x_h100_sxm5" taken apart.
std::optional<Several> several(std::string_view text) {
  constexpr std::string_view k_lambda = "gpu_";
  if (text.starts_with(k_lambda)) text.remove_prefix(k_lambda.size());
  constexpr std::string_view k_times = "xX";
  const std::size_t first = text.find_first_of(k_times), last = text.find_last_of(k_times);
  if (first == std::string_view::npos) return std::nullopt;
  const auto before = counted(text.substr(0, first), text.substr(first + 1));
  return before ? before : counted(text.substr(last + 1), text.substr(0, last));
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
  const std::int64_t usual = nodes.empty() ? count : find_node(nodes.front())->gpus;
  const std::string alone = "write " + as_gpu(*gpu, usual);
  return nodes.empty() ? alone : fmt::format("{}; nodes with {}: {}", alone, *gpu, fmt::join(nodes, ", "));
}

tl::unexpected<Error> with_hint(Error error, std::string hint) {
  if (!hint.empty()) error.hint = std::move(hint);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace shardlab
