#include "engine/hardware/fitted_figures.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

constexpr std::string_view k_file = "hardware/fitted.json";

Result<double> number(const YamlNode& figure, std::string_view key) {
  const YamlNode* const node = figure.find(key);
  if (node == nullptr) return bad_input(figure.place, fmt::format("{} is missing", key));
  const auto value = parse_number(node->text);
  if (!value) return bad_input(node->place, fmt::format("{}: {}", key, value.error().what));
  return *value;
}

Result<std::string> text(const YamlNode& figure, std::string_view key) {
  const YamlNode* const node = figure.find(key);
  if (node == nullptr || node->text.empty())
    return bad_input(figure.place, fmt::format("{} is missing", key));
  return node->text;
}

Result<FittedValue> read_value(const YamlNode& figure) {
  FittedValue read;
  SHARDLAB_TRY(read.value, number(figure, "value"));
  SHARDLAB_TRY(read.low, number(figure, "low"));
  SHARDLAB_TRY(read.high, number(figure, "high"));
  SHARDLAB_TRY(read.unit, text(figure, "unit"));
  SHARDLAB_TRY(read.meaning, text(figure, "meaning"));
  SHARDLAB_TRY(read.source, text(figure, "source"));
  if (read.low <= 0 || read.value < read.low || read.value > read.high)
    return bad_input(figure.place,
                     fmt::format("{} is not within {} and {}, above 0", read.value, read.low, read.high));
  return read;
}

Result<FittedFigures> fitted_figures_of(const YamlNode& root, std::string_view name) {
  const YamlNode* const figures = root.find("figures");
  if (figures == nullptr || !figures->is_map())
    return bad_input(in_file(std::string(name)), "it has no figures");
  FittedFigures fitted;
  for (const YamlEntry& entry : figures->entries) {
    const auto figure = parse_word<FittedFigure>(entry.key);
    if (!figure) {
      return bad_input(entry.place, fmt::format("unknown figure '{}'", entry.key),
                       suggestion(entry.key, all_words<FittedFigure>()));
    }
    SHARDLAB_TRY(fitted.at(*figure), read_value(entry.value));
  }
  for (const Word<FittedFigure>& word : k_words<FittedFigure>) {
    if (figures->find(word.text) == nullptr)
      return bad_input(in_file(std::string(name)), fmt::format("{} is missing", word.text));
  }
  return fitted;
}

}  // namespace

Result<FittedFigures> parse_fitted_figures(std::string_view json, std::string_view name) {
  SHARDLAB_TRY(const YamlNode root, parse_yaml(json, name));  // JSON is YAML
  return fitted_figures_of(root, name);
}

Result<FittedFigures> read_fitted_figures() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset(k_file));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> root, read_shipped_yaml(path));
  return fitted_figures_of(*root, path.string());
}

}  // namespace shardlab
