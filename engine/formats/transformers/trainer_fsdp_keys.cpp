#include <nlohmann/json.hpp>

#include "engine/base/lower_case.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/transformers/trainer_settings.h"
#include "engine/formats/transformers/trainer_values.h"
#include "engine/formats/transformers/transformers_target.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

template <Framework Version, auto Make>
ToolValue under(const Subject& s) {
  return framework(s) == Version ? ToolValue(Make(s)) : nullptr;
}
template <auto Make>
ToolValue always(const Subject& s) {
  return ToolValue(Make(s));
}
constexpr auto k_fsdp1 = Framework::fsdp1;

// Under FSDP 1 the value is the name of a sharding, which the plugin takes from the environment first (see
// transformers_target.cpp); under FSDP 2 it is a flag.
ToolValue resharding(const Subject& s) {
  if (framework(s) == k_fsdp1) return in_lower_case(sharding_word(s));
  return reshards_units(s);
}

constexpr ToolKey k_fsdp_keys[] = {
    {"version", "", always<[](const Subject& s) { return framework(s) == k_fsdp1 ? 1 : 2; }>, "2"},
    {"reshard_after_forward", "parallel.reshard_after_forward", resharding, "true", read_trainer_resharding},
    {"cpu_offload", "offload.parameters", always<offloads_parameters>, "false", read_trainer_offload},
    {"auto_wrap_policy", "parallel.wrap.policy", always<policy_word>, "TRANSFORMER_BASED_WRAP",
     read_trainer_policy},
    {"transformer_layer_cls_to_wrap", "parallel.wrap.classes", wrapped_class_list,
     "the model's _no_split_modules", read_classes},
    {"min_num_params", "parallel.wrap.min_params", least_wrapped_parameters, "0: one unit",
     read_trainer_least},
    {"cpu_ram_efficient_loading", "parallel.initialization", always<loads_on_one_rank>, "false",
     read_trainer_loading},
    {"state_dict_type", "checkpoint.type", always<state_dict_word>, "FULL_STATE_DICT",
     read_trainer_state_dict},
    {"activation_checkpointing", "activation.checkpoint", always<checkpoints_layers>, "false",
     read_layer_checkpoints},
    {"forward_prefetch", "parallel.prefetch.forward", under<k_fsdp1, prefetches_forward>, "false",
     read_of_version_1},
    {"backward_prefetch", "parallel.prefetch.backward", under<k_fsdp1, prefetch_word>, "NO_PREFETCH",
     read_backward_prefetch},
    {"use_orig_params", "parallel.use_orig_params", under<k_fsdp1, uses_orig_params>, "true",
     read_of_version_1},
    {"sync_module_states", "parallel.sync_module_states", under<k_fsdp1, loads_on_one_rank>, "true"},
    {"limit_all_gathers", "parallel.prefetch.limit_all_gathers", under<k_fsdp1, limits_gathers>, "true",
     read_of_version_1},
};

}  // namespace

std::span<const ToolKey> trainer_fsdp_keys() {
  return k_fsdp_keys;
}

}  // namespace shardlab
