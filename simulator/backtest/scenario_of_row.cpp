#include "simulator/backtest/scenario_of_row.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "engine/base/yaml.h"

namespace shardlab {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// One alternative of a text: the cell that `$name` stands for, anything else as it is.
std::string part_value(std::string_view part, const PublishedRun& run) {
  return part.starts_with('$') ? run.cell(std::string(part.substr(1))) : std::string(part);
}

bool mentions_cell(std::string_view text) {
  return text.size() > 1 && text.front() == '$' && is_name(text[1]);
}

// The first alternative that is not empty; of an absent cell the reason.
Result<std::string> cell_value(std::string_view text, const PublishedRun& run) {
  const std::string_view first = text.substr(1, text.find('|') - 1);
  while (true) {
    const std::size_t end = text.find('|');
    std::string value = part_value(text.substr(0, end), run);
    if (!value.empty()) return value;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return bad_input({}, fmt::format("the source does not say {}", first));
}

Result<YamlNode> substituted(YamlNode node, const PublishedRun& run) {
  if (node.is_scalar() && !node.quoted && mentions_cell(node.text)) {
    SHARDLAB_TRY(node.text, cell_value(node.text, run));
  }
  for (YamlNode& item : node.items) {
    SHARDLAB_TRY(item, substituted(std::move(item), run));
  }
  for (YamlEntry& entry : node.entries) {
    SHARDLAB_TRY(entry.value, substituted(std::move(entry.value), run));
  }
  return node;
}

Result<YamlNode> looked_up(const YamlNode& value, const PublishedRun& run) {
  const std::string& column = value.find("lookup")->text;
  const std::string& cell = run.cell(column);
  if (cell.empty()) return bad_input({}, fmt::format("the source does not say {}", column));
  if (const YamlNode* found = value.find("in")->find(cell)) return *found;
  return bad_input({}, fmt::format("{} '{}' is not known", column, cell));
}

Result<YamlNode> value_for(const RuleSetting& setting, const PublishedRun& run) {
  if (setting.value.find("lookup") != nullptr) return looked_up(setting.value, run);
  return substituted(setting.value, run);
}

// Puts the value at the dotted key, making the maps on the way.
void put(YamlNode& map, std::string_view key, YamlNode value) {
  map.kind = YamlNode::Kind::map;
  const std::size_t dot = key.find('.');
  const std::string first(key.substr(0, dot));
  YamlNode* at = map.find(first);
  if (at == nullptr) {
    map.entries.push_back({first, {}, {}});
    at = &map.entries.back().value;
  }
  if (dot == std::string_view::npos)
    *at = std::move(value);
  else
    put(*at, key.substr(dot + 1), std::move(value));
}

// The settings of the rules, of each key the last.
std::vector<const RuleSetting*> last_settings(const std::vector<const SourceRule*>& rules) {
  std::vector<const RuleSetting*> settings;
  for (const SourceRule* rule : rules) {
    for (const RuleSetting& setting : rule->settings) {
      const auto earlier = std::find_if(settings.begin(), settings.end(),
                                        [&](const RuleSetting* each) { return each->key == setting.key; });
      if (earlier == settings.end())
        settings.push_back(&setting);
      else
        *earlier = &setting;
    }
  }
  return settings;
}

void note(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty()) texts.push_back(text);
}

RowScenario refused(RowScenario row, std::string reason) {
  row.reason = std::move(reason);
  return row;
}

}  // namespace

RowScenario scenario_of_row(const PublishedRun& run, const std::vector<SourceRule>& rules,
                            BacktestMetric metric) {
  RowScenario row;
  std::vector<const SourceRule*> applied;
  for (const SourceRule& rule : rules) {
    if (!matches(rule, run, metric)) continue;
    applied.push_back(&rule);
    row.rules.push_back(rule.name);
    note(row.nearest, rule.nearest);
    note(row.kinds, rule.kind);
    if (!rule.series.empty()) row.series = rule.series;
  }
  for (const SourceRule* rule : applied) {
    if (!rule->refuse.empty()) return refused(std::move(row), rule->refuse);
  }
  if (!run.cell("n_gpus").empty() && run.cell("nodes").empty())
    return refused(std::move(row), "its GPUs do not fill nodes");
  YamlNode scenario;
  put(scenario, "name", yaml_scalar(run.cell("id"), true));
  for (const RuleSetting* setting : last_settings(applied)) {
    auto value = value_for(*setting, run);
    if (!value) return refused(std::move(row), value.error().what);
    put(scenario, setting->key, *std::move(value));
  }
  row.yaml = write_yaml(scenario);
  return row;
}

}  // namespace shardlab
