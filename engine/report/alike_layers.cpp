#include "engine/report/alike_layers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "engine/base/parse.h"

namespace shardlab {
namespace {

constexpr std::string_view k_layer = "layer ";
constexpr double k_alike = 0.01;
constexpr std::size_t k_fewest = 3;

std::optional<std::int64_t> layer_of(const DifferenceRow& row) {
  if (!row.name.starts_with(k_layer)) return std::nullopt;
  const auto number = parse_integer(row.name.substr(k_layer.size()));
  return number ? std::optional(*number) : std::nullopt;
}

bool alike(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return !a && !b;
  return std::abs(*a - *b) <= k_alike * std::max(std::abs(*a), std::abs(*b));
}

using Layers = std::map<std::int64_t, DifferenceRow>;
using Stretch = std::vector<Layers::const_iterator>;

// As many of the layers from `begin` on as follow each other and are like the first.
Stretch stretch_from(const Layers& layers, Layers::const_iterator begin) {
  Stretch stretch{begin};
  for (auto next = std::next(begin); next != layers.end(); ++next) {
    const bool follows = next->first == stretch.back()->first + 1;
    if (!follows || !alike(next->second.first, begin->second.first) ||
        !alike(next->second.second, begin->second.second))
      break;
    stretch.push_back(next);
  }
  return stretch;
}

DifferenceRow joined(const Stretch& stretch) {
  DifferenceRow row = stretch.front()->second;
  row.name = fmt::format("layers {} to {}, each", stretch.front()->first, stretch.back()->first);
  const auto mean = [&](std::optional<double> DifferenceRow::*figure) -> std::optional<double> {
    if (!(row.*figure)) return std::nullopt;
    double sum = 0;
    for (const auto& each : stretch) sum += *(each->second.*figure);
    return sum / static_cast<double>(stretch.size());
  };
  row.first = mean(&DifferenceRow::first);
  row.second = mean(&DifferenceRow::second);
  return row;
}

}  // namespace

std::vector<DifferenceRow> with_alike_layers_joined(const std::vector<DifferenceRow>& rows) {
  std::vector<DifferenceRow> result;
  Layers layers;
  for (const DifferenceRow& row : rows) {
    const auto layer = layer_of(row);
    if (!layer || !layers.emplace(*layer, row).second) result.push_back(row);
  }
  for (auto at = layers.cbegin(); at != layers.cend();) {
    const Stretch stretch = stretch_from(layers, at);
    if (stretch.size() >= k_fewest)
      result.push_back(joined(stretch));
    else
      for (const auto& each : stretch) result.push_back(each->second);
    std::advance(at, static_cast<std::ptrdiff_t>(stretch.size()));
  }
  std::stable_sort(result.begin(), result.end(), [](const DifferenceRow& a, const DifferenceRow& b) {
    return a.first.value_or(0) > b.first.value_or(0);
  });
  return result;
}

}  // namespace shardlab
