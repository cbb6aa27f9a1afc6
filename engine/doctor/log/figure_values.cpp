#include "engine/doctor/log/figure_values.h"

#include <array>
#include <charconv>

#include "engine/base/text/log_numbers.h"
#include "engine/doctor/log/line_words.h"

namespace shardlab {
namespace {

// What stands between a name and its value taken away; empty where nothing does.
std::string_view value_after(std::string_view rest) {
  constexpr std::string_view k_between = " \t:='\"|[", k_tensor = "tensor(";
  const std::size_t first = rest.find_first_not_of(k_between);
  if (first == std::string_view::npos || first == 0) return {};
  rest.remove_prefix(first);
  if (rest.starts_with(k_tensor)) rest.remove_prefix(k_tensor.size());
  return rest;
}

std::optional<double> number_at_start(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  const bool is_whole = end == text.data() + text.size() || !continues_word(*end);
  return is_whole ? std::optional(number) : std::nullopt;
}

// The word that ends before `at`, with what is joined to it.
std::string_view word_before(std::string_view line, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && (continues_word(line[begin - 1]) || line[begin - 1] == '/')) --begin;
  return line.substr(begin, at - begin);
}

bool is_of_evaluation(std::string_view word) {
  constexpr std::array<std::string_view, 4> k_words = {"eval", "val", "test", "dev"};
  return contains_one_of(word, k_words);
}

// The word that stands before the name, a space between: "validation loss".
std::string_view earlier_word(std::string_view line, std::size_t at) {
  if (at == 0 || line[at - 1] != ' ') return {};
  return word_before(line, at - 1);
}

// The number after the first of the names that has one.
std::optional<double> number_of(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    if (is_of_evaluation(word_before(line, at)) || is_of_evaluation(earlier_word(line, at))) continue;
    if (const auto number = number_at_start(value_after(line.substr(at + name.size())))) return number;
  }
  return std::nullopt;
}

bool is_about_other_memory(std::string_view line) {
  constexpr std::array<std::string_view, 10> k_words = {
      "tried to alloc", "out of memory", "free",  "capacity", "available",
      "limit",          "warning",       "error", "warn ",    "required"};
  return contains_one_of(line, k_words);
}

bool is_about_the_host(std::string_view word) {
  constexpr std::array<std::string_view, 6> k_words = {"cpu",   "host",     "virtual",
                                                       "total", "reserved", "cached"};
  return contains_one_of(word, k_words);
}

}  // namespace

std::optional<double> loss_in(std::string_view line) {
  constexpr std::string_view k_summary = "train_runtime";  // the Trainer's mean over all steps
  if (line.find(k_summary) != std::string_view::npos) return std::nullopt;
  return number_of(line, "loss");
}

std::optional<double> gradient_norm_in(std::string_view line) {
  constexpr std::array<std::string_view, 5> k_names = {"grad_norm", "grad norm", "gnorm", "gradient norm",
                                                       "gradient_norm"};
  for (const std::string_view name : k_names) {
    if (const auto number = number_of(line, name)) return number;
  }
  return std::nullopt;
}

std::optional<MemoryFigure> memory_in(std::string_view line) {
  constexpr std::array<std::string_view, 6> k_names = {"memory_allocated", "allocated", "memory",
                                                       "max_mem",          "mem",       "ma"};
  constexpr std::array<std::string_view, 3> k_parts = {"mem", "alloc", "ma "};
  if (!contains_one_of(line, k_parts) || is_about_other_memory(line)) return std::nullopt;
  for (const std::string_view name : k_names) {
    for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const bool begins = at == 0 || !continues_word(line[at - 1]) || line[at - 1] == '_';
      if (!begins || is_about_the_host(word_before(line, at)) || is_about_the_host(earlier_word(line, at)))
        continue;
      const std::string_view value = value_after(line.substr(at + name.size()));
      if (const auto size = size_after(value, ""))
        return MemoryFigure{name, static_cast<double>(size->value)};
      if (const auto number = number_at_start(value); number && *number > 0)
        return MemoryFigure{name, *number};
    }
  }
  return std::nullopt;
}

}  // namespace shardlab
