#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/scenario/unsupported.h"
#include "simulator/search/question/question_reader.h"

namespace shardlab {
namespace {

constexpr std::size_t k_longest_range = 10'000;

// Dotted keys and sections that a scenario knows; what is below a map of free names counts as known.
class KnownKeys {
 public:
  KnownKeys() {
    for (const MarkedKey& key : all_keys()) {
      for (std::size_t dot = key.path.find('.'); dot != std::string::npos; dot = key.path.find('.', dot + 1))
        names_.insert(key.path.substr(0, dot));
      names_.insert(key.path);
      if (key.type.starts_with("map")) maps_.push_back(key.path + ".");
    }
  }

  bool has(const std::string& key) const {
    return names_.contains(key) || std::any_of(maps_.begin(), maps_.end(),
                                               [&](const std::string& map) { return key.starts_with(map); });
  }
  std::string hint(const std::string& key) const {
    const std::vector<std::string> names(names_.begin(), names_.end());
    const auto near = nearest_name(key, names);
    return near ? "did you mean '" + *near + "'?" : "docs/scenario.md lists the keys of a scenario";
  }

 private:
  std::set<std::string> names_;
  std::vector<std::string> maps_;
};

Choice choice_of(const std::string& key, const std::string& value) {
  return {{key + "=" + value}, value};
}

std::vector<Choice> divisors_of(const std::string& key, std::int64_t batch) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i <= batch / i; ++i) {
    if (batch % i != 0) continue;
    divisors.push_back(i);
    if (i != batch / i) divisors.push_back(batch / i);
  }
  std::sort(divisors.begin(), divisors.end());
  std::vector<Choice> choices;
  for (const std::int64_t each : divisors) choices.push_back(choice_of(key, fmt::format("{}", each)));
  return choices;
}

std::vector<Choice> choices_of(const std::string& key, const YamlNode& node,
                               std::optional<std::int64_t> batch, QuestionReader& reader) {
  const std::string name = "vary." + key;
  std::vector<Choice> choices;
  if (node.is_sequence()) {
    if (node.items.empty())
      reader.refuse(node.place, name, "an empty list: nothing to choose from",
                    "list values, or leave the key out");
    for (const YamlNode& item : node.items) choices.push_back(choice_of(key, write_yaml_flow(item)));
  } else if (node.is_map()) {
    for (const std::string& text : range_texts(node, name, reader)) choices.push_back(choice_of(key, text));
  } else if (node.is_scalar() && node.text.starts_with("divisors")) {
    if (batch) return divisors_of(key, *batch);
    reader.refuse(node.place, name, "divisors of what? No global batch is kept",
                  "add keep: {global_batch: N}");
  } else {
    reader.refuse(node.place, name,
                  "expected a list, a range or `divisors`, found " + std::string(describe(node.kind)),
                  "for example [1, 2, 4], {from: 1, to: 16, times: 2}");
  }
  std::set<std::string> seen;
  for (const Choice& choice : choices) {
    if (!seen.insert(choice.shown).second) {
      reader.refuse(node.place, name, "lists " + choice.shown + " twice");
      break;
    }
  }
  return choices;
}

}  // namespace

std::vector<std::string> range_texts(const YamlNode& range, const std::string& name, QuestionReader& reader) {
  const YamlNode* const from = range.find("from");
  const YamlNode* const to = range.find("to");
  const YamlNode* const step = range.find("step");
  const YamlNode* const times = range.find("times");
  if (!reader.is_section(range, name, {"from", "to", "step", "times"})) return {};
  if (from == nullptr || to == nullptr || (step == nullptr) == (times == nullptr)) {
    reader.refuse(range.place, name, "a range needs from, to and either step or times",
                  "for example {from: 1, to: 16, times: 2}");
    return {};
  }
  const auto first = reader.number(*from, name, -1e300), last = reader.number(*to, name, -1e300);
  const auto by = reader.number(step != nullptr ? *step : *times, name, -1e300);
  if (!first || !last || !by) return {};
  if (*last < *first || (step != nullptr && *by <= 0) || (times != nullptr && (*by <= 1 || *first <= 0))) {
    reader.refuse(range.place, name, "the range never gets from its first value to its last",
                  "step is more than 0, times more than 1, from not more than to");
    return {};
  }
  std::vector<std::string> texts;
  for (double value = *first; value <= *last * (1 + 1e-12) && texts.size() <= k_longest_range;) {
    texts.push_back(format_number(value));
    value = step != nullptr ? *first + *by * static_cast<double>(texts.size()) : value * *by;
  }
  if (texts.size() > k_longest_range)
    reader.refuse(range.place, name, fmt::format("more than {} values", k_longest_range), "use longer steps");
  return texts;
}

std::vector<Knob> read_knobs(const YamlNode& vary, std::optional<std::int64_t> global_batch,
                             QuestionReader& reader) {
  static const KnownKeys known;
  std::vector<Knob> knobs;
  if (!vary.is_map()) {
    reader.refuse(vary.place, "vary", "expected a map from keys to values");
    return knobs;
  }
  for (const YamlEntry& entry : vary.entries) {
    if (!known.has(entry.key)) {
      reader.refuse(entry.place, "vary", "no key of a scenario is called '" + entry.key + "'",
                    known.hint(entry.key));
      continue;
    }
    knobs.push_back({entry.key, choices_of(entry.key, entry.value, global_batch, reader)});
  }
  return knobs;
}

}  // namespace shardlab
