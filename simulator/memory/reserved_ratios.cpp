#include "simulator/memory/reserved_ratios.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

constexpr std::string_view k_file = "residuals/reserved_memory.yaml";

Result<double> positive(const YamlNode& entry, std::string_view key) {
  const YamlNode* const node = entry.find(key);
  const double number = node != nullptr ? parse_number(node->text).value_or(0) : 0;
  if (number <= 0) return bad_input(std::string(k_file), fmt::format("a case without a positive '{}'", key));
  return number;
}

}  // namespace

Result<std::vector<double>> read_reserved_ratios() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset(k_file));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> root, read_shipped_yaml(path));
  const YamlNode* const cases = root->find("cases");
  if (cases == nullptr || cases->items.empty()) return bad_input(path.string(), "it has no cases");
  std::vector<double> ratios;
  for (const YamlNode& entry : cases->items) {
    SHARDLAB_TRY(const double real, positive(entry, "real"));
    SHARDLAB_TRY(const double predicted, positive(entry, "predicted"));
    ratios.push_back(real / predicted);
  }
  return ratios;
}

}  // namespace shardlab
