// What accelerate's FSDP plugin decides, whoever fills it in: accelerate's own file or transformers' Trainer.
//
// Source: accelerate 1.15.0, utils/dataclasses.py (FullyShardedDataParallelPlugin), utils/fsdp_utils.py,
// accelerator.py (prepare_model).
#pragma once

#include <span>

#include "engine/formats/tools/setting_rule.h"

namespace shardlab {

// The rules for sharding, prefetching and units.
std::span<const SettingRule> fsdp_sharding_rules();

// The rules for precision, checkpointing and offload.
std::span<const SettingRule> fsdp_precision_rules();

}  // namespace shardlab
