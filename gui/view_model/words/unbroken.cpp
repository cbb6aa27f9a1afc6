#include "gui/view_model/words/unbroken.h"

#include <algorithm>
#include <array>

namespace shardlab::view {
namespace {

bool is_figure(std::string_view word) {
  if (word.starts_with('(')) word.remove_prefix(1);
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; };
  return !word.empty() && word.front() >= '0' && word.front() <= '9' &&
         std::all_of(word.begin(), word.end(), is_part);
}

}  // namespace

bool is_unit_behind(std::string_view before, std::string_view word) {
  constexpr std::array<std::string_view, 18> k_units = {"B",  "KiB", "MiB", "GiB", "TiB", "KB",
                                                        "MB", "GB",  "TB",  "ns",  "us",  "ms",
                                                        "s",  "min", "h",   "%",   "x",   "GB/s"};
  while (!word.empty() && std::string_view(".,;:?!)").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  return is_figure(before) && std::find(k_units.begin(), k_units.end(), word) != k_units.end();
}

}  // namespace shardlab::view
