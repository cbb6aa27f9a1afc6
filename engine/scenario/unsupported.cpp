#include "engine/scenario/unsupported.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engine/scenario/keys/sections.h"
#include "engine/scenario/rank_variables.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/teacher_scenario.h"

namespace shardlab {
namespace {

using Rows = std::vector<UnsupportedValue>;

// Strategies tell theirs: names without a schedule, and options of those that have one.
void add_strategies(Rows& rows) {
  for (const KnownStrategy& strategy : known_strategies()) {
    if (!strategy.built)
      rows.push_back(
          {"parallel.strategy", {std::string(strategy.name)}, std::string(strategy.facts->nearest_built)});
    for (const UnsupportedKey& option : strategy.facts->unsupported) {
      const auto same = [&](const UnsupportedValue& row) { return row.key == option.key; };
      if (std::none_of(rows.begin(), rows.end(), same))
        rows.push_back({std::string(option.key), {}, std::string(option.nearest)});
    }
  }
}

Rows make_rows() {
  Rows rows{
      {"model.attention", {"flash3", "triton", "efficient"}, "auto", true},
      {"model.loss.held_logits", {}, "leave it out", true},
      {"model.loss.shift", {"logits"}, "labels", true},
      {"model.moe.capacity", {}, "leave it out: no token is dropped"},
      {"model.fp8", {"tensorwise", "rowwise"}, "none, with precision.param: bfloat16", true},
      {"model.quantized", {"int8"}, "nf4"},
      {"model.quantized", {"nf4", "nf4_double"}, "none, with model.dtype: bfloat16", true},
      {"cluster.host.cores", {}, "leave it out, or name a node of `shardlab hardware`"},
      {"cluster.host.pcie", {}, "leave it out, or name a node of `shardlab hardware`"},
      {"cluster.suppose", {}, "leave it out", true},
      {"parallel.mesh.tensor", {}, "1, and more ranks in parallel.mesh.shard"},
      {"parallel.mesh.expert", {}, "1, and more ranks in parallel.mesh.shard"},
      {"parallel.wrap.overrides[].settings",
       {"offload.parameters", "offload.pin", "activation.checkpoint"},
       "activation.checkpoint for the whole model"},
      {"parallel.sync_module_states", {}, "false: every rank makes its part of the same parameters", true},
      {"parallel.initialization", {"cpu", "rank0_broadcast"}, "meta", true},
      {"precision.keep_low_precision_grads", {}, "false"},
      {"precision.autocast", {"float32"}, "bfloat16"},
      {"precision.autocast", {"bfloat16", "float16"}, "precision.param", true},
      {"activation.partition", {}, "false"},
      {"offload.parameters", {"nvme"}, "cpu"},
      {"offload.ratio", {}, "100%"},
      {"train.optimizer", {"adamw_8bit"}, "adamw", true},
      {"train.optimizer_paged", {}, "false", true},
      {"train.optimizer", {"adafactor"}, "adamw"},
      {"train.nan_check", {}, "false"},
      {"train.data_workers", {}, "0", true},
      {"train.pin_batches", {}, "true"},
      {"train.evaluation.every", {}, "leave it out", true},
      {"train.evaluation.batches", {}, "leave it out"},
      {"train.epochs", {}, "measure.steps, the length of a run"},
      {"train.steps", {}, "measure.steps, the length of a run"},
      {"train.save.every", {}, "`shardlab run --save-weights FILE`", true},
      {"train.save.keep", {}, "`shardlab run --save-weights FILE`", true},
      {"checkpoint", {}, "`shardlab run --save-weights FILE`", true},
      {"limits", {}, "leave it out; `shardlab search` takes it into its needs"},
  };
  add_strategies(rows);
  return rows;
}

bool covers(const UnsupportedValue& row, std::string_view key) {
  if (row.key == key) return true;
  return key.starts_with(row.key) && key.substr(row.key.size()).starts_with('.');
}

// The value at a dotted key of a tree that was written from a scenario; null where it has its default.
const YamlNode* node_at(const YamlNode& root, std::string_view key) {
  const YamlNode* node = &root;
  while (node != nullptr && !key.empty()) {
    if (!node->is_map()) return nullptr;
    const std::size_t dot = key.find('.');
    node = node->find(key.substr(0, dot));
    key.remove_prefix(dot == std::string_view::npos ? key.size() : dot + 1);
  }
  return node;
}

// As the reference gives it; empty for none and for what is said in words.
std::string default_of(const std::string& key) {
  static const std::map<std::string, std::string> defaults = [] {
    std::vector<KeyLine> lines;
    describe_section(scenario_keys(), {}, lines);
    std::map<std::string, std::string> found;
    for (const KeyLine& line : lines) found[line.path] = line.default_value;
    return found;
  }();
  const auto known = defaults.find(key);
  return known == defaults.end() ? "" : known->second;
}

std::string text_of(const YamlNode& node) {
  return node.is_scalar() ? node.text : write_yaml_flow(node);
}

void add_uses(const UnsupportedValue& row, const std::string& key, const YamlNode& node,
              std::vector<UnsupportedUse>& uses) {
  if (node.is_map() && key.find("[]") == std::string::npos) {  // a section
    for (const YamlEntry& entry : node.entries) add_uses(row, key + "." + entry.key, entry.value, uses);
    return;
  }
  const std::string text = text_of(node);
  const bool refused = row.words.empty()
                           ? text != default_of(key)  // a key without a value may be given its default
                           : std::find(row.words.begin(), row.words.end(), text) != row.words.end();
  if (!refused) return;
  uses.push_back({key, text, nearest_hint(row)});
}

// Settings of single units: a word of the table is the name of one.
void add_overrides(const UnsupportedValue& row, const YamlNode& root, std::vector<UnsupportedUse>& uses) {
  const YamlNode* const list = node_at(root, "parallel.wrap.overrides");
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const YamlNode* const settings = list->items[i].find("settings");
    if (settings == nullptr) continue;
    for (const YamlEntry& entry : settings->entries)
      if (std::find(row.words.begin(), row.words.end(), entry.key) != row.words.end())
        uses.push_back({fmt::format("parallel.wrap.overrides[{}].settings", i),
                        entry.key + " of single units", nearest_hint(row)});
  }
}

// "flash, efficient, math", "any but false", with the nearest.
std::string mark_of(const KeyLine& line) {
  std::string text;
  std::string_view said;
  for (const UnsupportedValue& row : unsupported_values()) {
    if (!covers(row, line.path) && !covers({teacher_key(row.key), {}, {}}, line.path)) continue;
    const bool plain = !line.default_value.empty() && line.default_value.find(' ') == std::string::npos;
    const std::string values = !row.words.empty() ? kind::joined(row.words)
                               : plain            ? "all but " + line.default_value
                                                  : "all values";
    const std::string_view mark = row.predicted ? "predicted, not run yet: " : "not supported yet: ";
    text += fmt::format("{}{}{} ({})", text.empty() ? "" : "; ", mark == said ? "" : mark, values,
                        nearest_hint(row));
    said = mark;
  }
  return text;
}

}  // namespace

const std::vector<UnsupportedValue>& unsupported_values() {
  static const Rows rows = make_rows();
  return rows;
}

const UnsupportedValue* find_unsupported(std::string_view key, std::string_view word) {
  for (const UnsupportedValue& row : unsupported_values()) {
    const bool is_its = covers(row, key) || covers({teacher_key(row.key), {}, {}}, key);
    const bool has_word = word.empty() || row.words.empty() ||
                          std::find(row.words.begin(), row.words.end(), word) != row.words.end();
    if (is_its && has_word) return &row;
  }
  return nullptr;
}

std::string nearest_hint(const UnsupportedValue& value) {
  return "nearest that works: " + value.nearest;
}

std::vector<MarkedKey> all_keys() {
  std::vector<KeyLine> lines;
  describe_section(scenario_keys(), {}, lines);
  std::vector<MarkedKey> keys;
  for (KeyLine& line : lines) {
    std::string mark = mark_of(line);
    keys.push_back({std::move(line), std::move(mark)});
  }
  return keys;
}

namespace {

std::vector<UnsupportedUse> uses_of(const Scenario& scenario, bool predicted) {
  std::vector<UnsupportedUse> uses;
  const std::optional<YamlNode> written = write_section(scenario_keys(), scenario, Scenario{});
  if (!written) return uses;
  for (const UnsupportedValue& row : unsupported_values()) {
    if (row.predicted != predicted) continue;
    if (row.key.find("[]") != std::string::npos) {
      add_overrides(row, *written, uses);
    } else if (const YamlNode* const node = node_at(*written, row.key)) {
      add_uses(row, row.key, *node, uses);
    }
  }
  return uses;
}

}  // namespace

std::vector<UnsupportedUse> unsupported_uses(const Scenario& scenario) {
  return uses_of(scenario, false);
}

Status check_runs(const Scenario& scenario) {
  std::vector<UnsupportedUse> uses = uses_of(scenario, true);
  if (const auto not_run = facts_of(scenario).not_run; not_run != nullptr) {
    for (NotBuilt& missing : not_run(scenario))
      uses.push_back(
          {std::move(missing.key), std::move(missing.shown), nearest_hint({{}, {}, missing.nearest})});
  }
  if (uses.empty()) return check_rank_variables(*scenario.launch);
  const UnsupportedUse& use = uses.front();
  return bad_input(use.key, fmt::format("{} is predicted, and not run yet", use.shown), use.hint);
}

}  // namespace shardlab
