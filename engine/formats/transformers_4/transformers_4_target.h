// TrainingArguments of transformers 4.57, as the JSON that HfArgumentParser.parse_json_file reads.
//
// Source: transformers 4.57.6, training_args.py (__post_init__), trainer.py
// (create_accelerator_and_postprocess); accelerate 1.15.0 below it.
#pragma once

#include "engine/formats/tools/export_target.h"

namespace shardlab {

ExportTarget transformers_4_target();

}  // namespace shardlab
