#include <fmt/core.h>

#include "engine/formats/accelerate/accelerate_units.h"
#include "engine/formats/accelerate/fsdp_rules.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

using Instead = std::optional<std::string>;
using Subject = ExportSubject;

Instead whole_resharding(const Subject& s) {
  const ReshardAfterForward& reshard = s.scenario.parallel->reshard_after_forward;
  if (!is_fsdp(s) || reshard.kind != ReshardKind::to_ranks) return std::nullopt;
  return "true";
}

// The root too, which keeps parameters of its own unless layers are units.
Instead resharding_of_root(const Subject& s) {
  const bool by_default = s.scenario.parallel->reshard_after_forward.kind == ReshardKind::by_place;
  return framework(s) == Framework::fsdp2 && by_default && wrapped_classes(s).empty() ? Instead("true")
                                                                                      : std::nullopt;
}

Instead resharding_after_backward(const Subject& s) {
  return s.scenario.parallel->reshard_after_backward ? Instead() : "true";
}

Instead all_reduce_of_replicas(const Subject& s) {
  return s.scenario.parallel->requires_all_reduce ? Instead() : "true";
}

Instead forward_lists(const Subject& s) {
  return s.scenario.parallel->prefetch.forward_depth == 0 ? Instead() : "0";
}

Instead backward_lists(const Subject& s) {
  return s.scenario.parallel->prefetch.backward_depth == 0 ? Instead() : "0";
}

// HYBRID_SHARD without process groups of its own shards inside nodes.
Instead replicas_by_node(const Subject& s) {
  const bool hybrid = framework(s) == Framework::fsdp1 && is_hybrid(s.scenario.parallel->sharding);
  if (!hybrid || resolve_mesh(s.scenario).shard == ranks_per_node(s)) return std::nullopt;
  return fmt::format("{{replicate: {}, shard: {}}}", nodes(s), ranks_per_node(s));
}

Instead special_units(const Subject& s) {
  return asks_for_single_units(s) && !has_units_of_peft(s) ? accelerate_wrap(s) : std::nullopt;
}

Instead carved_ends(const Subject& s) {
  return asks_for_single_units(s) || has_units_of_peft(s) ? std::nullopt : accelerate_wrap(s);
}

Instead units_of_adapters(const Subject& s) {
  return has_units_of_peft(s) && framework(s) == Framework::fsdp1 ? accelerate_wrap(s) : std::nullopt;
}

Instead no_layers(const Subject& s) {
  return has_units_of_peft(s) && framework(s) == Framework::fsdp2 ? accelerate_wrap(s) : std::nullopt;
}

Instead construction(const Subject& s) {
  const bool on_meta = s.scenario.parallel->initialization == Initialization::meta;
  return is_fsdp(s) && on_meta ? Instead("rank0_broadcast") : std::nullopt;
}

constexpr SettingRule k_sharding_rules[] = {
    {"parallel.reshard_after_forward", k_lost, whole_resharding, "the plugin takes true or false"},
    {"parallel.reshard_after_forward", k_added, resharding_of_root,
     "what units are told, the root is told as well"},
    {"parallel.reshard_after_backward", k_lost, resharding_after_backward, "the plugin has no such option"},
    {"parallel.requires_all_reduce", k_lost, all_reduce_of_replicas, "the plugin has no such option"},
    {"parallel.mesh", k_lost, replicas_by_node, "without process groups of its own every node is a replica"},
    {"parallel.wrap", k_lost, special_units, "units are named by class or size alone"},
    {"parallel.wrap", k_added, carved_ends,
     "the embedding is a unit of its own; the last norm and the head are one that stays after forward"},
    {"parallel.wrap", k_added, units_of_adapters,
     "Trainer gives FSDP1 peft's policy: what is trained is units of its own beside the layers"},
    {"parallel.wrap", k_added, no_layers,
     "Trainer gives FSDP2 peft's policy, which accelerate 1.15 does not know there: no layer is a unit"},
    {"parallel.prefetch.forward_depth", k_lost, forward_lists, "the file has no lists of units"},
    {"parallel.prefetch.backward_depth", k_lost, backward_lists, "the file has no lists of units"},
    {"parallel.initialization", k_added, construction,
     "rank 0 loads the model in host memory and sends it, the other ranks make it empty"},
};

}  // namespace

std::span<const SettingRule> fsdp_sharding_rules() {
  return k_sharding_rules;
}

}  // namespace shardlab
