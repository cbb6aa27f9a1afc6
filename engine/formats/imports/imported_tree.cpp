#include "engine/formats/imports/imported_tree.h"

#include <algorithm>
#include <utility>

#include "engine/base/parse.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

YamlNode empty_map() {
  YamlNode map;
  map.kind = YamlNode::Kind::map;
  return map;
}

const YamlNode* at(const YamlNode& root, std::string_view key) {
  const YamlNode* node = &root;
  while (node != nullptr) {
    const std::size_t dot = key.find('.');
    node = node->find(key.substr(0, dot));
    if (dot == std::string_view::npos) return node;
    key.remove_prefix(dot + 1);
  }
  return nullptr;
}

void drop(YamlNode& root, std::string_view key) {
  YamlNode* node = &root;
  for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    node = node->find(key.substr(0, dot));
    if (node == nullptr || !node->is_map()) return;
    key.remove_prefix(dot + 1);
  }
  const auto same = [&](const YamlEntry& entry) { return entry.key == key; };
  node->entries.erase(std::remove_if(node->entries.begin(), node->entries.end(), same), node->entries.end());
}

const std::string* said(const ImportReading& reading, std::string_view key) {
  const ImportedSetting* const setting = reading.find(key);
  return setting == nullptr || !setting->is_set ? nullptr : &setting->value.text;
}

bool scales_loss(const ImportReading& reading) {
  for (const char* key : {"precision.param", "precision.autocast"}) {
    const std::string* const dtype = said(reading, key);
    if (dtype != nullptr && *dtype == to_string(DType::float16)) return true;
  }
  return false;
}

// Drops from the base what the files' strategy has no place for.
void drop_other_strategy(YamlNode& tree, const ImportReading& reading, const Scenario* onto) {
  const std::string* const strategy = said(reading, "parallel.strategy");
  if (strategy == nullptr) return;
  const StrategyFacts& facts = facts_of(*strategy);
  const bool is_same = onto != nullptr && facts_of(*onto).framework == facts.framework;
  if (!is_same) {
    for (const char* key : {"parallel", "precision", "offload", "train.sync", "activation.placement"})
      drop(tree, key);
  }
  for (const char* key : {"precision.param", "precision.autocast", "precision.buffer", "precision.output"})
    drop(tree, key);
  if (facts.framework == Framework::deepspeed) drop(tree, "train.sync");
  if (reading.find("parallel.wrap.policy") != nullptr) {
    for (const char* key :
         {"policy", "classes", "min_params", "rule", "match", "any", "overrides", "together"})
      drop(tree, std::string("parallel.wrap.") + key);
    if (const YamlNode* const wrap = at(tree, "parallel.wrap"); wrap != nullptr && !wrap->is_map())
      drop(tree, "parallel.wrap");
  }
  if (reading.find("parallel.mesh.shard") != nullptr || reading.find("parallel.mesh.replicate") != nullptr ||
      reading.find("parallel.sharding") != nullptr)
    drop(tree, "parallel.mesh");
  if (!scales_loss(reading)) drop(tree, "scaler");
}

// A base of processors has ranks, not GPUs a node.
void keep_processors(YamlNode& tree, const ImportReading& reading, const Scenario* onto) {
  const ImportedSetting* const device = reading.find("cluster.device");
  const bool on_processors =
      onto != nullptr && onto->cluster->device == DeviceKind::cpu && (device == nullptr || device->is_set);
  const std::string* const per_node = said(reading, "cluster.gpus_per_node");
  if (!on_processors || per_node == nullptr) return;
  const std::string* const nodes = said(reading, "cluster.nodes");
  const std::int64_t ranks =
      parse_integer(*per_node).value_or(1) * (nodes == nullptr ? 1 : parse_integer(*nodes).value_or(1));
  drop(tree, "cluster.gpus_per_node");
  drop(tree, "cluster.nodes");
  YamlNode count = yaml_scalar(std::to_string(ranks));
  count.place = reading.find("cluster.gpus_per_node")->value.place;
  set_in_tree(tree, "cluster.ranks", std::move(count));
}

// A setting that has an effect with others alone, after all are known.
void drop_without_effect(YamlNode& tree) {
  const YamlNode* const accumulation = at(tree, "train.accumulation");
  if (accumulation == nullptr || parse_integer(accumulation->text).value_or(1) == 1) drop(tree, "train.sync");
  const bool offloads = at(tree, "offload.parameters") != nullptr || at(tree, "offload.optimizer") != nullptr;
  if (!offloads) drop(tree, "offload.pin");
  if (at(tree, "activation.checkpoint") == nullptr) {
    for (const char* key :
         {"activation.every", "activation.placement", "activation.reentrant", "activation.operators"})
      drop(tree, key);
  }
  if (at(tree, "train.save.every") == nullptr) drop(tree, "train.save");
}

}  // namespace

void set_in_tree(YamlNode& root, std::string_view key, YamlNode value) {
  YamlNode* node = &root;
  while (true) {
    if (!node->is_map()) {
      const Place place = node->place;
      *node = empty_map();
      node->place = place;
    }
    const std::size_t dot = key.find('.');
    const std::string name(key.substr(0, dot));
    YamlNode* inner = node->find(name);
    if (inner == nullptr) {
      node->entries.push_back({name, value.place, {}});
      inner = &node->entries.back().value;
    }
    node = inner;
    if (dot == std::string_view::npos) break;
    key.remove_prefix(dot + 1);
  }
  *node = std::move(value);
}

YamlNode imported_tree(const ImportReading& reading, const YamlNode& base, const Scenario* onto) {
  YamlNode tree = base.is_map() ? base : empty_map();
  drop_other_strategy(tree, reading, onto);
  for (const ImportedSetting& setting : reading.settings) {
    if (setting.is_set)
      set_in_tree(tree, setting.key, setting.value);
    else
      drop(tree, setting.key);
  }
  keep_processors(tree, reading, onto);
  drop_without_effect(tree);
  return tree;
}

std::vector<std::string> missing_settings(const YamlNode& tree) {
  std::vector<std::string> missing;
  for (const char* key : {"model.config", "model.sequence_length"}) {
    if (at(tree, key) == nullptr) missing.emplace_back(key);
  }
  const bool has_device = at(tree, "cluster.node") != nullptr || at(tree, "cluster.gpu") != nullptr ||
                          at(tree, "cluster.device") != nullptr;
  if (!has_device) missing.emplace_back("cluster.node");
  return missing;
}

}  // namespace shardlab
