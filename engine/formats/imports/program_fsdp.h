// What `fsdp` means to a program that takes more for it than the Trainer does.
//
// Source: ms-swift 4, swift/arguments/sft_args.py (_init_fsdp, _check_fsdp2_compatibility).
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// `fsdp` as a word for a configuration that the program brings ("fsdp2"), or in a command of ms-swift the
// name of a JSON file, or its text, becomes `fsdp` and `fsdp_config` of TrainingArguments. Checkpoints of
// that section take the place of the Trainer's, as the program does it. `program` is the command that starts
// it, empty where nothing names it. bad_input for a file that is not there or is no map.
Status join_program_fsdp(const std::string& program, ForeignValue& arguments, ImportReading& reading);

}  // namespace shardlab
