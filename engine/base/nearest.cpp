#include "engine/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace shardlab {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// How many characters may differ.
std::size_t most_edits(const std::string& known) {
  return std::max<std::size_t>(2, known.size() / 3);
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  // A name may be a whole file that somebody took for another: what is longer than all is not compared with
  // any.
  if (std::all_of(known.begin(), known.end(),
                  [&](const std::string& each) { return name.size() > each.size() + most_edits(each); }))
    return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    // Names that differ in a number are listed from old to new: the newest is likelier to be meant.
    const bool newer = best != nullptr && distance == best_distance && candidate.size() == best->size();
    if (distance < best_distance || newer) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr || best_distance > most_edits(*best)) return std::nullopt;
  if (best_distance >= std::min(name.size(), best->size())) return std::nullopt;  // no letter is left
  return *best;
}

std::optional<std::string> misspelt_name(std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t k_most = 2;
  const auto nearest = nearest_name(name, known);
  return nearest && edit_distance(name, *nearest) <= k_most ? nearest : std::nullopt;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  // {gpu:h100} is a key without a value for YAML.
  const std::string_view before = name.substr(0, name.find(':'));
  if (before.size() < name.size() && std::find(known.begin(), known.end(), before) != known.end())
    return "a space is missing after '" + std::string(before) + ":'";
  if (const auto nearest = nearest_name(name, known)) return "did you mean '" + *nearest + "'?";
  std::string text = "known: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i == 0 ? "" : ", ") + known[i];
  return text;
}

}  // namespace shardlab
