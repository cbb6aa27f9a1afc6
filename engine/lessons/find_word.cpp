#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/lessons/plain_name.h"
#include "engine/lessons/word_list.h"

namespace shardlab::lessons {
namespace {

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : in_lower_case(name)) {
    if (c == '-' || c == '_' || c == ' ')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Whether one begins or ends with the other: sharding and shard, tflops and FLOPs.
bool are_akin(std::string_view a, std::string_view b) {
  constexpr std::size_t k_least = 4;
  if (a.size() < b.size()) std::swap(a, b);
  return b.size() >= k_least && (a.starts_with(b) || a.ends_with(b));
}

// A name that finds a word, and the one by which that is listed.
struct KnownName {
  std::string name, listed;
};

// Listed names of words that have a part akin to one of the unknown name's, in the order of the glossary.
std::vector<std::string> akin_words(std::string_view word, const std::vector<KnownName>& known) {
  constexpr std::size_t k_most = 5;
  const std::vector<std::string> wanted = parts_of(word);
  std::vector<std::string> akin;
  for (const KnownName& each : known) {
    const std::vector<std::string> parts = parts_of(each.name);
    const bool is_akin = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return std::any_of(wanted.begin(), wanted.end(),
                         [&](const std::string& its) { return are_akin(part, its); });
    });
    const bool is_new = std::find(akin.begin(), akin.end(), each.listed) == akin.end();
    if (is_akin && is_new && akin.size() < k_most) akin.push_back(each.listed);
  }
  return akin;
}

// By spelling where that is near, else by the words in it.
std::string hint_for(std::string_view word, const std::vector<KnownName>& known) {
  std::vector<std::string> lowered;
  for (const KnownName& each : known) lowered.push_back(in_lower_case(each.name));
  if (const auto near = nearest_name(in_lower_case(word), lowered)) {
    const auto index = std::find(lowered.begin(), lowered.end(), *near) - lowered.begin();
    return fmt::format("did you mean '{}'?", known[static_cast<std::size_t>(index)].name);
  }
  const std::vector<std::string> akin = akin_words(word, known);
  if (!akin.empty()) return fmt::format("near it: {}", fmt::join(akin, ", "));
  return "`shardlab explain --document` lists them";
}

}  // namespace

Result<const GlossaryWord*> Glossary::find(std::string_view word) const {
  const std::string wanted = plain_name(word);
  std::vector<KnownName> known;
  for (const GlossarySection& section : sections) {
    for (const GlossaryWord& each : section.words) {
      for (const auto* names : {&each.names, &each.also}) {
        for (const std::string& name : *names) {
          if (plain_name(name) == wanted) return &each;
          known.push_back({name, each.names.front()});
        }
      }
    }
  }
  return bad_input("explain", fmt::format("'{}' is no word of the glossary", word), hint_for(word, known));
}

}  // namespace shardlab::lessons
