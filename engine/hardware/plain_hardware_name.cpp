#include "engine/hardware/plain_hardware_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/lower_case.h"

namespace shardlab {
namespace {

constexpr std::string_view k_digits = "0123456789";
constexpr auto k_vendors =
    std::to_array<std::string_view>({"nvidia", "tesla", "geforce", "amd", "instinct", "aws", "ml", "gcp",
                                     "google", "azure", "standard", "oci", "oracle"});

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of(k_digits) == std::string_view::npos;
}

bool says_nothing(std::string_view word) {
  return word.empty() || word.starts_with("hbm") ||
         std::find(k_vendors.begin(), k_vendors.end(), word) != k_vendors.end();
}

std::string plain_word(std::string word) {
  if (word.starts_with("sxm") && is_number(word.substr(3))) return "sxm";
  if (word.ends_with('g') && is_number(word.substr(0, word.size() - 1))) return word + 'b';
  return word;
}

// "80 GB" is one word.
bool is_unit_of(const std::string& word, const std::vector<std::string>& before) {
  return (word == "gb" || word == "gib") && !before.empty() && is_number(before.back());
}

std::vector<std::string> separated(std::string_view text) {
  constexpr std::string_view k_between = " -_./";
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(k_between), text.size());
    std::string word(text.substr(0, end));
    if (is_unit_of(word, words))
      words.back() += "gb";
    else
      words.push_back(std::move(word));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::string plain_hardware_name(std::string_view name) {
  std::vector<std::string> words;
  for (const std::string& word : separated(in_lower_case(name)))
    if (!says_nothing(word)) words.push_back(plain_word(word));
  std::sort(words.begin(), words.end());
  std::string plain;
  for (const std::string& word : words) plain += (plain.empty() ? "" : " ") + word;
  return plain;
}

}  // namespace shardlab
