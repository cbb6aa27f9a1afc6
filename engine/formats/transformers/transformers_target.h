// TrainingArguments of transformers' Trainer, as the JSON that HfArgumentParser.parse_json_file reads.
//
// Source: transformers 5.23.0, training_args.py, trainer.py; accelerate 1.15.0 below it.
#pragma once

#include <span>

#include "engine/formats/tools/export_target.h"

namespace shardlab {

ExportTarget transformers_target();

// All but `fsdp_config`.
std::span<const ToolKey> training_argument_keys();

// Inside `fsdp_config`.
std::span<const ToolKey> trainer_fsdp_keys();

}  // namespace shardlab
