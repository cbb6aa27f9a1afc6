#include "engine/doctor/log/training_figures.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/doctor/log/line_words.h"

namespace shardlab {
namespace {

// The word that ends the text, after what stands between a name and its value.
std::string_view last_word(std::string_view text) {
  while (!text.empty() && std::string_view(" :=[('\"-").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && continues_word(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::string_view before(std::string_view text, std::string_view word) {
  return text.substr(0, static_cast<std::size_t>(word.data() - text.data()));
}

// The figure whose value follows `head`; empty where that is none.
std::string_view figure_before(std::string_view head) {
  std::string_view name = last_word(head);
  constexpr std::string_view k_as_tensor = "tensor";  // `loss tensor(nan, device='cuda:0')`
  if (name == k_as_tensor) name = last_word(before(head, name));
  if (name.ends_with("loss") || name.ends_with("grad_norm") || name == "gnorm") return name;
  if (name == "norm" && last_word(before(head, name)).starts_with("grad")) return name;
  return {};
}

// Whether the value that begins at `at` is a word of its own: not the `nan` of `finance`.
bool is_whole(std::string_view line, std::size_t at, std::size_t length) {
  const bool begins = at == 0 || (!continues_word(line[at - 1]) && line[at - 1] != '.');
  return begins && (at + length >= line.size() || !continues_word(line[at + length]));
}

bool is_best_so_far(std::string_view head, std::string_view name) {
  constexpr std::array<std::string_view, 4> k_words = {"best", "min", "lowest", "least"};
  const std::size_t begin = static_cast<std::size_t>(name.data() - head.data());
  constexpr std::size_t k_near = 24;
  return contains_one_of(head.substr(begin - std::min(begin, k_near)), k_words);
}

}  // namespace

std::optional<std::string> non_finite_figure(std::string_view line) {
  for (const std::string_view value : {"nan", "inf"}) {
    for (std::size_t at = line.find(value); at != std::string_view::npos; at = line.find(value, at + 1)) {
      if (!is_whole(line, at, value.size())) continue;
      const std::string_view head = line.substr(0, at);
      const std::string_view name = figure_before(head);
      if (name.empty() || (value == "inf" && is_best_so_far(head, name))) continue;
      return name == "norm" ? "gradient norm" : std::string(name);
    }
  }
  return std::nullopt;
}

bool tells_of_no_scale(std::string_view line) {
  constexpr double k_nothing = 1e-3;
  constexpr std::array<std::string_view, 6> k_steps = {"iteration",   "epoch", "skipping step",
                                                       "global step", "step:", "overflow detected"};
  constexpr std::array<std::string_view, 3> k_settings = {"enabled", "scale_window", "scale_power"};
  if (!contains_one_of(line, k_steps) || contains_one_of(line, k_settings)) return false;
  constexpr std::string_view k_key = "scale";
  for (std::size_t at = line.find(k_key); at != std::string_view::npos; at = line.find(k_key, at + 1)) {
    const std::string_view name = last_word(line.substr(0, at + k_key.size()));
    const std::string_view of = name == k_key ? last_word(line.substr(0, at)) : name;
    if (!of.starts_with("loss") && !of.starts_with("grad")) continue;
    std::string_view rest = line.substr(at + k_key.size());
    if (rest.starts_with(" to")) rest.remove_prefix(3);
    while (!rest.empty() && std::string_view(" :='\"").find(rest.front()) != std::string_view::npos)
      rest.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc() && end != rest.data() && number >= 0 && number < k_nothing) return true;
  }
  return false;
}

}  // namespace shardlab
