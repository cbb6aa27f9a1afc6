#include "engine/hardware/description.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/core.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/base/shipped_yaml.h"

namespace shardlab {

namespace {

Result<double> parse_value(const std::string& text) {
  if (const auto number = parse_number(text)) return *number;
  if (text.ends_with("/s")) {
    SHARDLAB_TRY(const BytesPerSecond rate, parse_bytes_per_second(text));
    return rate.value;
  }
  SHARDLAB_TRY(const Bytes size, parse_bytes(text));
  return static_cast<double>(size.value);
}

}  // namespace

std::vector<std::string> estimated_figures(const FigureSources& provenance) {
  std::vector<std::string> names;
  for (const auto& [name, from] : provenance) {
    if (is_guess(from.kind)) names.push_back(name);
  }
  return names;
}

Result<Description> Description::of(std::shared_ptr<const YamlNode> root, std::string_view name) {
  if (!root->is_map())
    return bad_input(in_file(std::string(name)),
                     fmt::format("expected a map of keys, found {}", describe(root->kind)));
  return Description(std::move(root));
}

Result<Description> Description::parse(std::string_view text, std::string_view name) {
  SHARDLAB_TRY(YamlNode root, parse_yaml(text, name));
  return of(std::make_shared<const YamlNode>(std::move(root)), name);
}

Result<Description> Description::read(const std::filesystem::path& file) {
  SHARDLAB_TRY(std::shared_ptr<const YamlNode> root, read_shipped_yaml(file));
  return of(std::move(root), file.string());
}

void Description::mistake(const YamlNode& at, std::string what) {
  if (!mistake_) mistake_ = Error{ErrorKind::bad_input, at.place, std::move(what), {}};
}

const YamlNode* Description::take(std::string_view key) {
  taken_.emplace(key);
  return root_->find(key);
}

std::string Description::text(std::string_view key) {
  const YamlNode* const node = take(key);
  if (node == nullptr) {
    mistake(*root_, fmt::format("{} is missing", key));
  } else if (!node->is_scalar()) {
    mistake(*node, fmt::format("{}: expected a text", key));
  }
  return node != nullptr ? node->text : "";
}

std::string Description::optional_text(std::string_view key) {
  return root_->find(key) == nullptr ? std::string() : text(key);
}

bool Description::flag(std::string_view key, bool otherwise) {
  const YamlNode* const node = take(key);
  if (node == nullptr) return otherwise;
  const auto value = parse_boolean(node->text);
  if (!value) mistake(*node, fmt::format("{}: {}", key, value.error().what));
  return value.value_or(otherwise);
}

std::optional<double> Description::optional_figure(std::string_view section, std::string_view key) {
  const std::string path = fmt::format("{}.{}", section, key);
  taken_.insert(path);
  const YamlNode* const figures = take(section);
  const YamlNode* const figure = figures != nullptr ? figures->find(key) : nullptr;
  if (figure == nullptr) return std::nullopt;
  return value_of(*figure, path);
}

std::map<std::string, double, std::less<>> Description::figures(std::string_view section) {
  std::map<std::string, double, std::less<>> values;
  const YamlNode* const found = take(section);
  if (found == nullptr) return values;
  for (const YamlEntry& entry : found->entries)
    values[entry.key] = optional_figure(section, entry.key).value_or(0);
  return values;
}

double Description::value_of(const YamlNode& figure, const std::string& key) {
  const YamlNode* const value = figure.find("value");
  const YamlNode* const kind = figure.find("kind");
  const YamlNode* const source = figure.find("source");
  const bool ranged = figure.find("low") != nullptr && figure.find("high") != nullptr;
  if (value == nullptr || kind == nullptr || source == nullptr || figure.entries.size() != (ranged ? 5 : 3)) {
    mistake(figure, key + ": expected {value, kind, source}, or with low and high as well");
    return 0;
  }
  const auto known = parse_word<FigureKind>(kind->text);
  if (!known) {
    mistake(*kind, fmt::format("{}: unknown kind '{}' ({})", key, kind->text,
                               suggestion(kind->text, all_words<FigureKind>())));
  }
  if (source->text.empty()) mistake(*source, key + ": a figure needs a source");
  const double number = number_of(*value, key);
  FigureSource from{known.value_or(FigureKind::estimate), source->text};
  if (ranged) from.range = range_of(figure, key);
  if (from.range && (number < from.range->first || number > from.range->second))
    mistake(*value, key + ": the value is not between low and high");
  provenance_[key] = std::move(from);
  return number;
}

double Description::number_of(const YamlNode& value, const std::string& key) {
  const auto number = parse_value(value.text);
  if (!number) mistake(value, key + ": " + number.error().what);
  if (number && *number < 0) mistake(value, key + ": cannot be negative");
  return number.value_or(0);
}

std::optional<std::pair<double, double>> Description::range_of(const YamlNode& figure,
                                                               const std::string& key) {
  return std::pair(number_of(*figure.find("low"), key), number_of(*figure.find("high"), key));
}

double Description::figure(std::string_view section, std::string_view key) {
  const auto value = optional_figure(section, key);
  if (!value) mistake(*root_, fmt::format("{}.{} is missing", section, key));
  return value.value_or(0);
}

int Description::count(std::string_view section, std::string_view key) {
  constexpr double k_most = 1 << 30;
  const double value = optional_figure(section, key).value_or(0);
  if (std::abs(value) <= k_most && value == std::trunc(value)) return static_cast<int>(value);
  if (!mistake_) mistake(*root_, fmt::format("{}.{} is not a whole number", section, key));
  return 0;
}

Status Description::finish() {
  for (const YamlEntry& entry : root_->entries) {
    if (taken_.count(entry.key) == 0) mistake(entry.value, fmt::format("unknown key '{}'", entry.key));
    for (const YamlEntry& inner : entry.value.entries) {
      if (taken_.count(entry.key + "." + inner.key) == 0)
        mistake(inner.value, fmt::format("unknown key '{}.{}'", entry.key, inner.key));
    }
  }
  if (mistake_) return fail(*mistake_);
  return {};
}

}  // namespace shardlab
