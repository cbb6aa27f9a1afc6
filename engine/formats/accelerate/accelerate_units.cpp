#include "engine/formats/accelerate/accelerate_units.h"

#include "engine/base/yaml.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

// The ends of a causal language model: what transformers calls its input and output embeddings, and the last
// norm among the children of its base model. Empty paths where a model has none.
struct ModelEnds {
  std::string embedding, norm, head;
  bool tied = false;
};

const Module* child_with_class(const ModelGraph& graph, const Module& parent, std::string_view word,
                               bool last) {
  const Module* found = nullptr;
  for (const ModuleId id : parent.children) {
    const Module& child = graph.module(id);
    if (child.class_name.find(word) == std::string::npos) continue;
    if (found == nullptr || last) found = &child;
  }
  return found;
}

ModelEnds ends_of(const ModelGraph& graph) {
  ModelEnds ends;
  const Module& root = graph.modules.front();
  if (root.children.empty()) return ends;
  const Module& base = graph.module(root.children.front());
  const Module* const embedding = child_with_class(graph, base, "Embedding", false);
  const Module* const norm = child_with_class(graph, base, "Norm", true);
  const Module* const head = child_with_class(graph, root, "Linear", true);
  if (embedding != nullptr) ends.embedding = embedding->path;
  if (norm != nullptr) ends.norm = norm->path;
  if (head != nullptr) ends.head = head->path;
  ends.tied = embedding != nullptr && head != nullptr && !embedding->parameters.empty() &&
              !head->parameters.empty() && embedding->parameters.front() == head->parameters.front();
  return ends;
}

// What of the scenario's policy the file can say.
WrapSpec sayable_policy(const WrapSpec& given, Framework framework) {
  WrapSpec policy;
  policy.policy = given.policy;
  policy.classes = given.classes;
  if (given.policy == WrapPolicyKind::size) {
    policy.min_params = given.min_params;
    policy.rule = framework == Framework::fsdp2 ? SizeRule::plain : SizeRule::remainder;
  }
  if (given.policy == WrapPolicyKind::lambda || given.policy == WrapPolicyKind::any_of)
    policy.policy = WrapPolicyKind::transformer;
  return policy;
}

WrapMatch at_path(const std::string& path) {
  WrapMatch match;
  match.path = path;
  return match;
}

WrapSpec with_carved_ends(const WrapSpec& policy, const ModelEnds& ends) {
  WrapSpec wrap = policy;
  if (!ends.tied && !ends.embedding.empty()) {
    WrapSpec embedding;
    embedding.policy = WrapPolicyKind::lambda;
    embedding.match.push_back(at_path(ends.embedding));
    wrap = embedding;
    if (policy.policy != WrapPolicyKind::none) {
      wrap = WrapSpec{};
      wrap.policy = WrapPolicyKind::any_of;
      wrap.any = {policy, embedding};
    }
  }
  std::vector<std::string> tail;
  for (const std::string& path : {ends.norm, ends.tied ? ends.embedding : std::string(), ends.head}) {
    if (!path.empty()) tail.push_back(path);
  }
  if (tail.size() < 2) return wrap;
  wrap.overrides.push_back({at_path(tail.front()), {{"reshard_after_forward", "false"}}});
  wrap.together.push_back(std::move(tail));
  return wrap;
}

WrapSpec at_paths(std::initializer_list<std::string> paths) {
  WrapSpec units;
  units.policy = WrapPolicyKind::lambda;
  for (const std::string& path : paths) {
    if (!path.empty()) units.match.push_back(at_path(path));
  }
  return units;
}

// Layers, and every module without children whose weight is trained.
WrapSpec with_trained_units(const WrapSpec& policy, const LoraSpec& lora) {
  WrapSpec layers;
  const bool by_class =
      policy.policy == WrapPolicyKind::transformer || policy.policy == WrapPolicyKind::module;
  if (by_class) layers.classes = policy.classes;
  WrapSpec wrap;
  wrap.policy = WrapPolicyKind::any_of;
  wrap.any = {layers,
              at_paths({"**.lora_?.default",
                        lora.modules_to_save.empty() ? std::string() : "**.modules_to_save.default"})};
  return wrap;
}

// The embedding and the head, which is not given back after forward; tied they are one.
WrapSpec of_ends_alone(const ModelEnds& ends) {
  WrapSpec wrap;
  wrap.policy = WrapPolicyKind::none;
  const std::string kept = ends.tied ? ends.embedding : ends.head;
  if (ends.tied) {
    wrap.together.push_back({ends.embedding, ends.head});
  } else {
    wrap = at_paths({ends.embedding, ends.head});
  }
  if (!kept.empty()) wrap.overrides.push_back({at_path(kept), {{"reshard_after_forward", "false"}}});
  return wrap;
}

// The policy of which `given` is what accelerate makes; `given` itself where it is no such thing.
WrapSpec uncarved(const WrapSpec& given, const ModelEnds& ends) {
  WrapSpec none;
  none.policy = WrapPolicyKind::none;
  std::vector<WrapSpec> candidates{none, WrapSpec{}};
  if (!given.any.empty()) candidates.push_back(given.any.front());
  WrapSpec alone = given;
  alone.overrides.clear();
  alone.together.clear();
  candidates.push_back(alone);
  for (const WrapSpec& candidate : candidates) {
    WrapSpec made = with_carved_ends(candidate, ends);
    made.ignored = given.ignored;
    if (made == given) return candidate;
  }
  return given;
}

}  // namespace

WrapSpec named_policy(const ExportSubject& subject) {
  const WrapSpec& given = subject.scenario.parallel->wrap;
  return framework(subject) == Framework::fsdp2 ? uncarved(given, ends_of(subject.graph)) : given;
}

std::optional<std::string> accelerate_wrap(const ExportSubject& subject) {
  if (!is_fsdp(subject)) return std::nullopt;
  const WrapSpec& given = subject.scenario.parallel->wrap;
  const bool shards_by_parameter = framework(subject) == Framework::fsdp2;
  WrapSpec made = sayable_policy(named_policy(subject), framework(subject));
  if (has_units_of_peft(subject)) {
    made = shards_by_parameter ? of_ends_alone(ends_of(subject.graph))
                               : with_trained_units(made, subject.scenario.model->lora);
  } else if (shards_by_parameter) {
    made = with_carved_ends(made, ends_of(subject.graph));
  }
  made.ignored = given.ignored;
  if (made == given) return std::nullopt;
  const auto written = write_section(wrap_keys(), made, WrapSpec{});
  return written ? write_yaml_flow(*written) : "{policy: transformer}";
}

bool has_units_of_peft(const ExportSubject& subject) {
  return subject.by_trainer && subject.scenario.model->lora.rank > 0;
}

bool asks_for_single_units(const ExportSubject& subject) {
  const WrapSpec wrap = named_policy(subject);
  const bool by_rule = wrap.policy == WrapPolicyKind::lambda || wrap.policy == WrapPolicyKind::any_of;
  const SizeRule rule = framework(subject) == Framework::fsdp2 ? SizeRule::plain : SizeRule::remainder;
  const bool other_rule = wrap.policy == WrapPolicyKind::size && wrap.rule != rule;
  return by_rule || other_rule || !wrap.overrides.empty() || !wrap.together.empty();
}

}  // namespace shardlab
