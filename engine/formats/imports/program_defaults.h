// What programs take in place of the Trainer's defaults, and adapters that they train unasked.
//
// Source: ms-swift 4, arguments/base_args/model_args.py (_init_mixed_precision) and tuner_args.py; TRL 1.0,
// trainer/base_config.py; LLaMA-Factory 0.9, hparams/finetuning_args.py.
#pragma once

#include <string>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// Adds to the arguments, and to the program's own, what the program takes where they leave it out, with a
// warning each. `program` is the command that starts it ("swift"), empty where nothing names it.
void add_program_defaults(const std::string& program, ForeignValue& own, ForeignValue& arguments,
                          ImportReading& reading);

}  // namespace shardlab
