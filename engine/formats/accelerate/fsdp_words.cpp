#include "engine/formats/accelerate/fsdp_words.h"

#include "engine/formats/accelerate/accelerate_units.h"
#include "engine/formats/tools/module_patterns.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {

std::string sharding_word(const ExportSubject& subject) {
  switch (subject.scenario.parallel->sharding) {
    case Fsdp1Sharding::full_shard: return "FULL_SHARD";
    case Fsdp1Sharding::shard_grad_op: return "SHARD_GRAD_OP";
    case Fsdp1Sharding::no_shard: return "NO_SHARD";
    case Fsdp1Sharding::hybrid_shard: return "HYBRID_SHARD";
    case Fsdp1Sharding::hybrid_shard_zero2: return "HYBRID_SHARD_ZERO2";
  }
  return {};
}

std::string policy_word(const ExportSubject& subject) {
  if (wraps_by_size(subject)) return "SIZE_BASED_WRAP";
  return named_policy(subject).policy == WrapPolicyKind::none ? "NO_WRAP" : "TRANSFORMER_BASED_WRAP";
}

std::string prefetch_word(const ExportSubject& subject) {
  switch (subject.scenario.parallel->prefetch.backward) {
    case BackwardPrefetch::pre: return "BACKWARD_PRE";
    case BackwardPrefetch::post: return "BACKWARD_POST";
    case BackwardPrefetch::none: return "NO_PREFETCH";
  }
  return {};
}

std::string state_dict_word(const ExportSubject& subject) {
  switch (subject.scenario.checkpoint->type) {
    case CheckpointType::full: return "FULL_STATE_DICT";
    case CheckpointType::sharded: return "SHARDED_STATE_DICT";
    case CheckpointType::local:
      return framework(subject) == Framework::fsdp1 ? "LOCAL_STATE_DICT" : "SHARDED_STATE_DICT";
  }
  return {};
}

std::vector<std::string> wrapped_classes(const ExportSubject& subject) {
  if (policy_word(subject) != "TRANSFORMER_BASED_WRAP") return {};
  const WrapSpec policy = named_policy(subject);
  const bool by_class =
      policy.policy == WrapPolicyKind::transformer || policy.policy == WrapPolicyKind::module;
  std::vector<std::string> classes = by_class ? policy.classes : std::vector<std::string>();
  if (classes.empty()) classes.push_back(subject.graph.block_class);
  return classes;
}

bool wraps_by_size(const ExportSubject& subject) {
  return named_policy(subject).policy == WrapPolicyKind::size;
}

std::int64_t least_parameters(const ExportSubject& subject) {
  return named_policy(subject).min_params;
}

std::string ignored_expression(const ExportSubject& subject) {
  return regular_expression(subject.scenario.parallel->wrap.ignored);
}

bool reshards_units(const ExportSubject& subject) {
  return subject.scenario.parallel->reshard_after_forward.frees(false);
}

bool prefetches_forward(const ExportSubject& subject) {
  return subject.scenario.parallel->prefetch.forward;
}

bool limits_gathers(const ExportSubject& subject) {
  return subject.scenario.parallel->prefetch.limit_all_gathers;
}

bool uses_orig_params(const ExportSubject& subject) {
  return subject.scenario.parallel->use_orig_params;
}

bool offloads_checkpoints(const ExportSubject& subject) {
  return checkpoints_layers(subject) && subject.scenario.activation->offload == OffloadTarget::cpu;
}

bool checkpoints_layers(const ExportSubject& subject) {
  return subject.scenario.activation->checkpoint != ActivationCheckpoint::none;
}

bool offloads_parameters(const ExportSubject& subject) {
  return subject.scenario.offload->parameters != OffloadTarget::none;
}

bool loads_on_one_rank(const ExportSubject& subject) {
  return subject.scenario.parallel->initialization != Initialization::cpu;
}

}  // namespace shardlab
