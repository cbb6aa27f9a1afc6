#include "engine/execute/meeting/agree_on_settings.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/yaml.h"

namespace shardlab {
namespace {

using Settings = std::map<std::string, std::string>;

constexpr const char* k_of_rank_0 = "settings/of-rank-0";
constexpr const char* k_verdict = "settings/verdict";

std::string answer_key(int rank) {
  return fmt::format("settings/answer/{}", rank);
}
std::string farewell_key(int rank) {
  return fmt::format("settings/farewell/{}", rank);
}

bool is_of_no_training(std::string_view key) {
  constexpr auto k_left_out = std::to_array<std::string_view>(
      {"name", "description", "tags", "cluster", "launch", "limits", "measure.tolerance"});
  return std::find(k_left_out.begin(), k_left_out.end(), key) != k_left_out.end();
}

// "/data/a/words.txt" as "words.txt", wherever it stands in a value.
void drop_folders(YamlNode& value) {
  while (value.text.size() > 1 && value.text.ends_with('/')) value.text.pop_back();
  value.text.erase(0, value.text.rfind('/') + 1);
  for (YamlNode& item : value.items) drop_folders(item);
}

void add_settings(const YamlNode& section, const std::string& path, Settings& settings) {
  for (const YamlEntry& entry : section.entries) {
    const std::string key = path.empty() ? entry.key : path + "." + entry.key;
    if (is_of_no_training(key)) continue;
    if (entry.value.is_map()) {
      add_settings(entry.value, key, settings);
      continue;
    }
    YamlNode value = entry.value;
    drop_folders(value);
    settings[key] = write_yaml_flow(value);
  }
}

// A line each; keys and values have no line breaks.
std::string text_of_settings(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += fmt::format("{}={}\n", key, value);
  return text;
}

Settings settings_of_text(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t equals = std::min(line.find('='), line.size());
    settings.emplace(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return settings;
}

std::string value_in(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "the default" : found->second;
}

// What the rank has and rank 0 has not; empty where they agree.
std::string difference(int rank, const Settings& own, const Settings& of_rank_0) {
  constexpr std::size_t k_shown = 5;
  std::set<std::string> keys;
  for (const Settings* settings : {&own, &of_rank_0})
    for (const auto& [key, value] : *settings) keys.insert(key);
  std::vector<std::string> found;
  for (const std::string& key : keys) {
    const std::string here = value_in(own, key), there = value_in(of_rank_0, key);
    if (here != there) found.push_back(fmt::format("{} is {}, not {}", key, here, there));
  }
  if (found.empty()) return {};
  const std::size_t more = found.size() - std::min(found.size(), k_shown);
  found.resize(found.size() - more);
  return fmt::format("rank {} has other settings than rank 0: {}{}", rank, fmt::join(found, "; "),
                     more > 0 ? fmt::format("; and {} more", more) : "");
}

// Rank 0's part. Where they do not agree it stays until the others know: with it go the values.
Result<std::string> verdict_of_all(SharedValues& values, int world, const std::string& text,
                                   std::chrono::milliseconds patience) {
  SHARDLAB_CHECK_OK(values.set(k_of_rank_0, text));
  std::string verdict;
  for (int rank = 1; rank < world && verdict.empty(); ++rank) {
    SHARDLAB_TRY(verdict, values.wait(answer_key(rank), patience));
  }
  SHARDLAB_CHECK_OK(values.set(k_verdict, verdict));
  for (int rank = 1; rank < world && !verdict.empty(); ++rank)
    if (!values.wait(farewell_key(rank), patience)) break;
  return verdict;
}

Result<std::string> verdict_for(SharedValues& values, int rank, const Settings& own,
                                std::chrono::milliseconds patience) {
  SHARDLAB_TRY(const std::string of_rank_0, values.wait(k_of_rank_0, patience));
  SHARDLAB_CHECK_OK(values.set(answer_key(rank), difference(rank, own, settings_of_text(of_rank_0))));
  SHARDLAB_TRY(std::string verdict, values.wait(k_verdict, patience));
  if (!verdict.empty()) (void)values.set(farewell_key(rank), "");  // rank 0 may go before it answers
  return verdict;
}

}  // namespace

Result<Settings> training_settings(std::string_view scenario) {
  SHARDLAB_TRY(const YamlNode root, parse_yaml(scenario, "scenario.yaml"));
  Settings settings;
  add_settings(root, {}, settings);
  return settings;
}

Status agree_on_settings(SharedValues& values, int rank, int world, std::string_view scenario,
                         std::chrono::milliseconds patience) {
  if (world == 1) return {};
  SHARDLAB_TRY(const Settings own, training_settings(scenario));
  SHARDLAB_TRY(const std::string verdict, rank == 0
                                              ? verdict_of_all(values, world, text_of_settings(own), patience)
                                              : verdict_for(values, rank, own, patience));
  if (verdict.empty()) return {};
  return run_failed("the meeting", verdict,
                    "start all ranks with the same scenario and the same --set options");
}

}  // namespace shardlab
