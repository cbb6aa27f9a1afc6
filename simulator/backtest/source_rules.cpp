#include "simulator/backtest/source_rules.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "engine/base/folder.h"
#include "engine/base/input_file.h"
#include "engine/base/nearest.h"

namespace shardlab {
namespace {

using ReadField = std::function<Status(SourceRule&, const YamlNode&)>;

Status read_text(std::string& text, const YamlNode& node) {
  if (!node.is_scalar() || node.text.empty()) return bad_input(node.place, "a text is expected");
  text = node.text;
  return {};
}

ReadField text_field(std::string SourceRule::*member) {
  return [member](SourceRule& rule, const YamlNode& node) { return read_text(rule.*member, node); };
}

Status read_patterns(CellCondition& condition, const YamlNode& node) {
  if (node.is_scalar()) {
    condition.patterns = {node.text};
    return {};
  }
  if (!node.is_sequence() || node.items.empty())
    return bad_input(node.place, "a pattern or a list of them is expected");
  for (const YamlNode& item : node.items) {
    if (!item.is_scalar()) return bad_input(item.place, "a pattern is expected");
    condition.patterns.push_back(item.text);
  }
  return {};
}

Status check_column(const std::string& name, const Place& place) {
  std::vector<std::string> known = published_columns();
  known.insert(known.end(), derived_columns().begin(), derived_columns().end());
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  return bad_input(place, "unknown column '" + name + "'", suggestion(name, known));
}

ReadField conditions_field(std::vector<CellCondition> SourceRule::*member) {
  return [member](SourceRule& rule, const YamlNode& node) -> Status {
    if (!node.is_map()) return bad_input(node.place, "a map from columns to patterns is expected");
    for (const YamlEntry& entry : node.entries) {
      SHARDLAB_CHECK_OK(check_column(entry.key, entry.place));
      CellCondition condition{entry.key, {}};
      SHARDLAB_CHECK_OK(read_patterns(condition, entry.value));
      (rule.*member).push_back(std::move(condition));
    }
    return {};
  };
}

Status read_metric(SourceRule& rule, const YamlNode& node) {
  rule.metric = parse_word<BacktestMetric>(node.text);
  if (!rule.metric)
    return bad_input(node.place, "unknown metric '" + node.text + "'",
                     suggestion(node.text, all_words<BacktestMetric>()));
  return {};
}

Status read_settings(SourceRule& rule, const YamlNode& node) {
  if (!node.is_map()) return bad_input(node.place, "a map from keys of a scenario to values is expected");
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.is_null()) return bad_input(entry.place, "'" + entry.key + "' has no value");
    const YamlNode* lookup = entry.value.find("lookup");
    const YamlNode* in = entry.value.find("in");
    if (lookup != nullptr && (in == nullptr || !in->is_map()))
      return bad_input(entry.value.place, "'lookup' needs 'in', a map from cells to values");
    if (lookup != nullptr) SHARDLAB_CHECK_OK(check_column(lookup->text, lookup->place));
    rule.settings.push_back({entry.key, entry.value});
  }
  return {};
}

const std::map<std::string, ReadField>& fields() {
  static const std::map<std::string, ReadField> k_fields = {
      {"rule", text_field(&SourceRule::name)},
      {"when", conditions_field(&SourceRule::when)},
      {"unless", conditions_field(&SourceRule::unless)},
      {"metric", read_metric},
      {"set", read_settings},
      {"refuse", text_field(&SourceRule::refuse)},
      {"nearest", text_field(&SourceRule::nearest)},
      {"kind", text_field(&SourceRule::kind)},
      {"series", text_field(&SourceRule::series)},
      {"because", text_field(&SourceRule::because)},
      {"source", text_field(&SourceRule::source)},
  };
  return k_fields;
}

Status check_rule(const SourceRule& rule) {
  if (rule.name.empty()) return bad_input(rule.place, "'rule', its name, is missing");
  const Place place = named(rule.place, rule.name);
  if (rule.because.empty()) return bad_input(place, "'because' is missing: every rule says why");
  if (rule.source.empty()) return bad_input(place, "'source' is missing: every rule says where that is said");
  if (rule.settings.empty() && rule.refuse.empty() && rule.nearest.empty() && rule.kind.empty() &&
      rule.series.empty())
    return bad_input(place, "does nothing: none of set, refuse, nearest, kind and series");
  return {};
}

Result<SourceRule> read_rule(const YamlNode& node) {
  if (!node.is_map()) return bad_input(node.place, "a rule, a map, is expected");
  SourceRule rule;
  rule.place = node.place;
  for (const YamlEntry& entry : node.entries) {
    const auto field = fields().find(entry.key);
    if (field == fields().end()) {
      std::vector<std::string> known;
      for (const auto& [name, ignored] : fields()) known.push_back(name);
      return bad_input(entry.place, "unknown field '" + entry.key + "' of a rule",
                       suggestion(entry.key, known));
    }
    SHARDLAB_CHECK_OK(field->second(rule, entry.value));
  }
  SHARDLAB_CHECK_OK(check_rule(rule));
  return rule;
}

// `*` stands for any text, `?` for any character. Where a character does not agree, the last `*` takes one
// more: that the earlier ones took as little as possible never hurts.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t after_star = std::string_view::npos;  // in the pattern
  std::size_t star_ends = 0;                        // in the text
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      after_star = ++in_pattern;
      star_ends = at;
    } else if (in_pattern < pattern.size() &&
               (pattern[in_pattern] == '?' || pattern[in_pattern] == text[at])) {
      ++at;
      ++in_pattern;
    } else if (after_star != std::string_view::npos) {
      in_pattern = after_star;
      at = ++star_ends;
    } else {
      return false;
    }
  }
  return pattern.substr(in_pattern).find_first_not_of('*') == std::string_view::npos;
}

bool agrees(const CellCondition& condition, const PublishedRun& run) {
  const std::string& cell = run.cell(condition.column);
  return std::any_of(condition.patterns.begin(), condition.patterns.end(),
                     [&](const std::string& pattern) { return is_like(cell, pattern); });
}

}  // namespace

Result<std::vector<SourceRule>> parse_rules(std::string_view yaml, std::string_view name) {
  SHARDLAB_TRY(const YamlNode root, parse_yaml(yaml, name));
  if (!root.is_sequence()) return bad_input(in_file(std::string(name)), "a list of rules is expected");
  std::vector<SourceRule> rules;
  for (const YamlNode& item : root.items) {
    SHARDLAB_TRY(SourceRule rule, read_rule(item));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<SourceRule>> read_rules(const std::filesystem::path& folder) {
  SHARDLAB_TRY(std::vector<std::filesystem::path> files, paths_in(folder));
  std::erase_if(files, [](const std::filesystem::path& file) { return file.extension() != ".yaml"; });
  if (files.empty()) return bad_input(in_file(folder.string()), "has no rules (*.yaml)");
  std::vector<SourceRule> rules;
  for (const std::filesystem::path& file : files) {
    SHARDLAB_TRY(const std::string text, read_input_file(file, k_description_file));
    SHARDLAB_TRY(std::vector<SourceRule> more, parse_rules(text, file.string()));
    rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return rules;
}

bool matches(const SourceRule& rule, const PublishedRun& run, BacktestMetric metric) {
  if (rule.metric && *rule.metric != metric) return false;
  const auto agree = [&](const CellCondition& condition) { return agrees(condition, run); };
  return std::all_of(rule.when.begin(), rule.when.end(), agree) &&
         std::none_of(rule.unless.begin(), rule.unless.end(), agree);
}

Status check_rules(const std::vector<SourceRule>& rules, const PublishedTable& table) {
  for (const SourceRule& rule : rules) {
    const BacktestMetric metric = rule.metric.value_or(BacktestMetric::memory);
    const auto count = std::count_if(table.runs.begin(), table.runs.end(),
                                     [&](const PublishedRun& run) { return matches(rule, run, metric); });
    if (count > 1) continue;
    return bad_input(named(rule.place, rule.name),
                     fmt::format("matches {} of {}", count == 0 ? "no row" : "a single row", table.name),
                     "a rule is about a source, a framework or a column, never about one row");
  }
  return {};
}

}  // namespace shardlab
