// Values that TrainingArguments of version 5 and of 4.57 have alike, under keys of their own.
//
// Source: transformers 5.23.0 and 4.57.6, training_args.py.
#pragma once

#include "engine/formats/tools/tool_key.h"

namespace shardlab {

// Null: by the model's _no_split_modules.
ToolValue wrapped_class_list(const ExportSubject& subject);

// Null: not wrapped by size.
ToolValue least_wrapped_parameters(const ExportSubject& subject);

// FSDP has a key of its own for checkpoints, which costs no second gather.
bool checkpoints_outside_fsdp(const ExportSubject& subject);

}  // namespace shardlab
