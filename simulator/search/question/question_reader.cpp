#include "simulator/search/question/question_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"

namespace shardlab {
namespace {

struct Home {
  std::string_view key, path;
};
// Keys that people write into another section of a search file.
constexpr auto k_homes = std::to_array<Home>({{"global_batch", "keep.global_batch"},
                                              {"batch", "keep.global_batch"},
                                              {"tokens", "train.tokens"},
                                              {"failures", "train.failures"},
                                              {"hours", "need.hours"},
                                              {"deadline", "need.hours"},
                                              {"dollars", "need.dollars"},
                                              {"budget", "need.dollars"},
                                              {"gpus", "need.gpus"},
                                              {"fit_probability", "need.fit_probability"},
                                              {"micro_batch", "vary: {train.micro_batch: [1, 2]}"},
                                              {"accumulation", "vary: {train.accumulation: [1, 2]}"}});

std::string unknown_key_hint(const std::string& key, const std::vector<std::string>& known) {
  const auto home =
      std::find_if(k_homes.begin(), k_homes.end(), [&](const Home& each) { return each.key == key; });
  return home != k_homes.end() ? fmt::format("did you mean {}?", home->path) : suggestion(key, known);
}

}  // namespace

bool QuestionReader::is_section(const YamlNode& node, const std::string& name,
                                const std::vector<std::string>& known) {
  if (!node.is_map()) {
    refuse(node.place, name, fmt::format("expected a map of keys, found {}", describe(node.kind)));
    return false;
  }
  for (const YamlEntry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end())
      refuse(entry.place, name, "unknown key '" + entry.key + "'", unknown_key_hint(entry.key, known));
  }
  return true;
}

std::string QuestionReader::text(const YamlNode& section, std::string_view key, const std::string& name) {
  const YamlNode* const node = section.find(key);
  if (node == nullptr) return {};
  if (!node->is_scalar() || node->text.empty())
    refuse(node->place, name, fmt::format("expected a text, found {}", describe(node->kind)));
  return node->text;
}

std::optional<double> QuestionReader::number(const YamlNode& node, const std::string& name, double least) {
  const auto value =
      node.is_scalar() ? parse_number(node.text) : Result<double>(bad_input({}, "expected a number"));
  if (!value) {
    refuse(node.place, name, value.error().what, value.error().hint);
    return std::nullopt;
  }
  if (*value < least) {
    refuse(node.place, name, fmt::format("{} is less than {}", node.text, least));
    return std::nullopt;
  }
  return *value;
}

std::optional<std::int64_t> QuestionReader::integer(const YamlNode& node, const std::string& name,
                                                    std::int64_t least) {
  const auto value = node.is_scalar() ? parse_integer(node.text)
                                      : Result<std::int64_t>(bad_input({}, "expected a whole number"));
  if (!value) {
    refuse(node.place, name, value.error().what, value.error().hint);
    return std::nullopt;
  }
  if (*value < least) {
    refuse(node.place, name, fmt::format("{} is less than {}", node.text, least));
    return std::nullopt;
  }
  return *value;
}

std::optional<Nanoseconds> QuestionReader::duration(const YamlNode& node, const std::string& name) {
  const auto value = node.is_scalar()
                         ? parse_duration(node.text)
                         : Result<Nanoseconds>(bad_input({}, "expected a time", "for example 10min"));
  if (value) return *value;
  refuse(node.place, name, value.error().what, value.error().hint);
  return std::nullopt;
}

}  // namespace shardlab
