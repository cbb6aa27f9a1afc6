// What the readers of a search file's parts share: typed values of its tree, every complaint with its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/yaml.h"
#include "engine/scenario/problems.h"
#include "simulator/search/question/search_question.h"

namespace shardlab {

struct QuestionReader {
  Problems& problems;

  // Whether it is a map; complains of one that is not and of keys that are not among `known`.
  bool is_section(const YamlNode& node, const std::string& name, const std::vector<std::string>& known);

  std::string text(const YamlNode& section, std::string_view key, const std::string& name);
  std::optional<double> number(const YamlNode& node, const std::string& name, double least);
  std::optional<std::int64_t> integer(const YamlNode& node, const std::string& name, std::int64_t least);
  std::optional<Nanoseconds> duration(const YamlNode& node, const std::string& name);

  void refuse(const Place& place, const std::string& name, const std::string& what,
              const std::string& hint = {}) {
    problems.add(named(place, name), what, hint);
  }
};

// The choices of `vary`, one knob a key. `global_batch` is what `divisors` divide.
std::vector<Knob> read_knobs(const YamlNode& vary, std::optional<std::int64_t> global_batch,
                             QuestionReader& reader);
std::vector<Offer> read_offers(const YamlNode& offers, QuestionReader& reader);
Needs read_needs(const YamlNode& need, QuestionReader& reader);
// A count, in how many gpu_days or node_days, and its source; `also`: further keys of the section.
std::optional<EventRate> read_rate(const YamlNode& node, const std::string& name,
                                   const std::vector<std::string>& also, QuestionReader& reader);

Training read_training(const YamlNode& train, QuestionReader& reader);

// Numbers of a list, of {from, to, step} or {from, to, times}, as they are written; complains of others.
std::vector<std::string> range_texts(const YamlNode& range, const std::string& name, QuestionReader& reader);

}  // namespace shardlab
