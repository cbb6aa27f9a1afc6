#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/accelerate_keys.h"
#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/accelerate/fsdp_words.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

// A key of one of the two versions, or of both.
template <Framework Version, auto Make>
ToolValue under(const Subject& s) {
  return framework(s) == Version ? ToolValue(Make(s)) : nullptr;
}
template <auto Make>
ToolValue under_both(const Subject& s) {
  return ToolValue(Make(s));
}
constexpr auto k_fsdp1 = Framework::fsdp1;
constexpr auto k_fsdp2 = Framework::fsdp2;

ToolValue class_list(const Subject& s) {
  const std::vector<std::string> classes = wrapped_classes(s);
  return !classes.empty() ? ToolValue(fmt::format("{}", fmt::join(classes, ","))) : nullptr;
}

ToolValue least(const Subject& s) {
  return wraps_by_size(s) ? ToolValue(least_parameters(s)) : nullptr;
}

ToolValue ignored(const Subject& s) {
  const std::string expression = ignored_expression(s);
  return expression.empty() ? ToolValue() : ToolValue(expression);
}

ToolValue offloaded(const Subject& s) {
  return framework(s) == k_fsdp2 && offloads_checkpoints(s) ? ToolValue(true) : nullptr;
}

constexpr ToolKey k_fsdp_keys[] = {
    {"fsdp_version", "", under_both<[](const Subject& s) { return framework(s) == k_fsdp1 ? 1 : 2; }>, "1"},
    {"fsdp_sharding_strategy", "parallel.sharding", under<k_fsdp1, sharding_word>, "FULL_SHARD",
     read_sharding},
    {"fsdp_reshard_after_forward", "parallel.reshard_after_forward", under<k_fsdp2, reshards_units>, "true",
     read_resharding},
    {"fsdp_auto_wrap_policy", "parallel.wrap.policy", under_both<policy_word>, "NO_WRAP: one unit",
     read_accelerate_policy},
    {"fsdp_transformer_layer_cls_to_wrap", "parallel.wrap.classes", class_list,
     "the model's _no_split_modules", read_classes},
    {"fsdp_min_num_params", "parallel.wrap.min_params", least, "100000000", read_accelerate_least},
    {"fsdp_ignored_modules", "parallel.wrap.ignored", ignored, "none", read_ignored_modules},
    {"fsdp_backward_prefetch", "parallel.prefetch.backward", under<k_fsdp1, prefetch_word>, "NO_PREFETCH",
     read_backward_prefetch},
    {"fsdp_forward_prefetch", "parallel.prefetch.forward", under<k_fsdp1, prefetches_forward>, "false",
     read_of_version_1},
    {"fsdp_use_orig_params", "parallel.use_orig_params", under<k_fsdp1, uses_orig_params>, "true",
     read_of_version_1},
    {"fsdp_offload_params", "offload.parameters", under_both<offloads_parameters>, "false",
     read_parameter_offload},
    {"fsdp_state_dict_type", "checkpoint.type", under_both<state_dict_word>,
     "FULL_STATE_DICT; of version 2 SHARDED_STATE_DICT", read_accelerate_state_dict},
    {"fsdp_cpu_ram_efficient_loading", "parallel.initialization", under_both<loads_on_one_rank>, "true",
     read_accelerate_loading},
    // Launch fails where only the key above is false: its default is this one's condition.
    {"fsdp_sync_module_states", "parallel.sync_module_states", under<k_fsdp1, loads_on_one_rank>, "true",
     read_accelerate_sync},
    {"fsdp_activation_checkpointing", "activation.checkpoint", under_both<checkpoints_layers>, "false",
     read_layer_checkpoints},
    {"fsdp_activation_checkpointing_offload", "activation.offload", offloaded, "false",
     read_checkpoint_offload},
};

}  // namespace

std::span<const ToolKey> accelerate_fsdp_keys() {
  return k_fsdp_keys;
}

}  // namespace shardlab
