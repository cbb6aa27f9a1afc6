#include "tests/fuzz/deep_inputs.h"

#include <algorithm>
#include <array>

namespace shardlab::fuzz {
namespace {

constexpr std::size_t k_depth = 100'000;

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  text.reserve(piece.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

std::vector<std::string> deep_values() {
  return {repeated("[", k_depth) + repeated("]", k_depth),
          repeated("{\"a\":", k_depth) + "1" + repeated("}", k_depth)};
}

// Where the value that begins at `at` ends: at a comma, a closing bracket or the end of its line.
std::size_t end_of_value(const std::string& text, std::size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth == 0 && (byte == ',' || byte == ']' || byte == '}' || byte == '\n')) break;
    if (byte == '[' || byte == '{') ++depth;
    if (byte == ']' || byte == '}') --depth;
  }
  return at;
}

void add_with_deep_values(const Seed& seed, std::vector<Seed>& inputs) {
  constexpr std::size_t k_most = 32;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < seed.bytes.size(); ++at)
    if (std::string_view(":,[=").find(seed.bytes[at]) != std::string_view::npos) places.push_back(at + 1);
  const std::size_t stride = places.size() / k_most + 1;
  for (std::size_t i = 0; i < places.size(); i += stride) {
    const std::size_t begin = places[i], end = end_of_value(seed.bytes, begin);
    for (const std::string& value : deep_values())
      inputs.push_back({seed.source + ", deep at " + std::to_string(begin),
                        seed.bytes.substr(0, begin) + ' ' + value + seed.bytes.substr(end),
                        SeedPlace::Verdict::any});
  }
}

}  // namespace

std::vector<Seed> deep_inputs(const std::vector<Seed>& seeds) {
  std::vector<Seed> inputs;
  for (const std::string_view piece :
       {"[",   "{",    "(",       "\"", "'", "-",  "- ", ":",  "a:\n ", "&", "*", "$", "${",
        "$((", "not ", "{\"a\":", "{{", "`", "\\", "#",  "](", "]",     "|", "N", "l"})
    inputs.push_back({"deep " + std::string(piece), repeated(piece, k_depth), SeedPlace::Verdict::any});
  for (const std::string& value : deep_values())
    inputs.push_back({"deep value", value, SeedPlace::Verdict::any});
  constexpr std::size_t k_most_seeds = 4;
  std::size_t used = 0;
  for (const Seed& seed : seeds)
    if (seed.verdict == SeedPlace::Verdict::taken && used++ < k_most_seeds)
      add_with_deep_values(seed, inputs);
  return inputs;
}

}  // namespace shardlab::fuzz
