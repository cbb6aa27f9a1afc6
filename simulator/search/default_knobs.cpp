#include "simulator/search/default_knobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/source.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_largest_micro_batch = 64;

// Keys that say how a strategy reshards: each strategy has its own, so they are chosen with it.
constexpr std::string_view k_reshard = "reshard_after_forward", k_sharding = "sharding";

bool matters(const StrategyFacts& facts, const std::string& key) {
  return strategies_that_accept(key).empty() || accepts(facts, key);
}

// What is below `section` of the tree, of which the strategy with these facts takes only a part.
YamlNode kept_below(const YamlNode& tree, const std::string& section, const StrategyFacts& facts) {
  YamlNode kept;
  kept.kind = YamlNode::Kind::map;
  const YamlNode* const given = tree.find(section);
  if (given == nullptr) return kept;
  for (const YamlEntry& entry : given->entries) {
    if (matters(facts, section + "." + entry.key)) kept.entries.push_back(entry);
  }
  return kept;
}

void set(YamlNode& map, std::string_view key, std::string_view value) {
  if (YamlNode* const found = map.find(key))
    *found = yaml_scalar(std::string(value));
  else
    map.entries.push_back({std::string(key), {}, yaml_scalar(std::string(value))});
}

// Under a strategy that does not cast, what `precision` says would be lost, and with it the arithmetic.
bool keeps_precision(const YamlNode& tree, const StrategyFacts& facts) {
  const YamlNode* const given = tree.find("precision");
  return given == nullptr || facts.casts_units || given->entries.empty();
}

Choice parallel_choice(const YamlNode& section, std::string shown) {
  return {{"parallel=" + write_yaml_flow(section)}, std::move(shown)};
}

std::vector<Choice> ways_of(std::string_view name, const StrategyFacts& facts, YamlNode section) {
  const std::string strategy(name);
  set(section, "strategy", strategy);
  std::vector<Choice> choices = {parallel_choice(section, strategy)};
  const auto add = [&](std::string_view key, std::string_view value, std::string_view words) {
    YamlNode other = section;
    set(other, key, value);
    choices.push_back(parallel_choice(other, fmt::format("{} {}", strategy, words)));
  };
  if (accepts(facts, "parallel.reshard_after_forward")) {
    set(section, k_reshard, "default");
    choices.front() = parallel_choice(section, strategy);
    add(k_reshard, "false", "kept after forward");
  }
  if (accepts(facts, "parallel.sharding")) {
    set(section, k_sharding, to_string(Fsdp1Sharding::full_shard));
    choices.front() = parallel_choice(section, strategy);
    add(k_sharding, to_string(Fsdp1Sharding::shard_grad_op), to_string(Fsdp1Sharding::shard_grad_op));
  }
  return choices;
}

// The scenario with the choice, as reading it says; nothing where it is refused.
std::optional<Scenario> with_choice(const BaseScenario& base, const Choice& choice) {
  std::vector<std::string> overrides = base.overrides;
  overrides.insert(overrides.end(), choice.settings.begin(), choice.settings.end());
  auto read = parse_scenario(base.text, base.file, overrides);
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

// Those that the scenario allows and that differ from each other; the scenario's own first.
Knob knob_of(std::string key, const BaseScenario& base, std::string own, std::vector<Choice> choices) {
  Knob knob{std::move(key), {{{}, std::move(own), true}}};
  std::vector<Scenario> seen = {base.scenario};
  for (Choice& choice : choices) {
    const std::optional<Scenario> scenario = with_choice(base, choice);
    if (!scenario) continue;
    const auto same = std::find(seen.begin(), seen.end(), *scenario);
    if (same == seen.begin()) knob.choices.front().shown = choice.shown;
    if (same != seen.end()) continue;
    seen.push_back(*scenario);
    knob.choices.push_back(std::move(choice));
  }
  return knob;
}

Knob parallel_knob(const YamlNode& tree, const BaseScenario& base) {
  std::vector<Choice> choices;
  for (const KnownStrategy& strategy : known_strategies()) {
    if (!strategy.built || !strategy.facts->proposed || !keeps_precision(tree, *strategy.facts)) continue;
    for (Choice& choice :
         ways_of(strategy.name, *strategy.facts, kept_below(tree, "parallel", *strategy.facts)))
      choices.push_back(std::move(choice));
  }
  return knob_of("parallel", base, "as given", std::move(choices));
}

Knob checkpoint_knob(const BaseScenario& base) {
  std::vector<Choice> choices;
  for (const ActivationCheckpoint each : {ActivationCheckpoint::none, ActivationCheckpoint::full})
    choices.push_back(
        {{fmt::format("activation={{checkpoint: {}}}", to_string(each))}, std::string(to_string(each))});
  const std::string own(to_string(base.scenario.activation->checkpoint));
  return knob_of("activation.checkpoint", base, own + " as given", std::move(choices));
}

Knob loss_knob(const BaseScenario& base) {
  std::vector<Choice> choices;
  if (base.scenario.model->loss.kind == LossKind::plain && !base.scenario.distillation)
    choices.push_back({{"model.loss={kind: chunked, chunks: 8}"}, "8 chunks"});
  return knob_of("model.loss", base, std::string(to_string(base.scenario.model->loss.kind)),
                 std::move(choices));
}

// Whether gradients are reduced once a step, or in every micro-batch without being kept whole: the same sums.
// With a single micro-batch the scenario's reader refuses the second.
Knob sync_knob(const BaseScenario& base) {
  Knob knob{"train.sync", {}};
  for (const GradientSync each : {GradientSync::last, GradientSync::every}) {
    const std::string word(to_string(each));
    knob.choices.push_back({{"train.sync=" + word}, word, each == base.scenario.train->sync});
  }
  return knob;
}

Knob micro_batch_knob(const BaseScenario& base, std::optional<std::int64_t> global_batch) {
  const std::int64_t own = base.scenario.train->micro_batch;
  std::vector<std::int64_t> sizes = {own};
  for (std::int64_t size = 1; global_batch && size <= k_largest_micro_batch && *global_batch % size == 0;
       size *= 2)
    sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  Knob knob{"train.micro_batch", {}};
  for (const std::int64_t size : sizes)
    knob.choices.push_back(
        {{fmt::format("train.micro_batch={}", size)}, fmt::format("{}", size), size == own});
  return knob;
}

}  // namespace

Result<YamlNode> base_tree(const BaseScenario& base) {
  SHARDLAB_TRY(YamlNode tree, parse_yaml(base.text, base.file));
  for (const std::string& assignment : base.overrides) SHARDLAB_CHECK_OK(apply_override(tree, assignment));
  return tree;
}

Result<std::vector<Knob>> default_knobs(const BaseScenario& base, std::optional<std::int64_t> global_batch) {
  SHARDLAB_TRY(const YamlNode tree, base_tree(base));
  std::vector<Knob> knobs = {parallel_knob(tree, base), checkpoint_knob(base), loss_knob(base),
                             sync_knob(base), micro_batch_knob(base, global_batch)};
  std::erase_if(knobs, [](const Knob& knob) { return knob.choices.size() < 2; });
  return knobs;
}

}  // namespace shardlab
