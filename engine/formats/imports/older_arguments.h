// TrainingArguments as people write them: numbers that YAML takes for text, and names of older versions.
#pragma once

#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// YAML 1.1 reads 1e-5 as text. HfArgumentParser leaves it so, and training ends there; parsers of programs
// (TrlParser, OmegaConf) make the number of it, and so does this, with a warning.
void read_text_numbers(ForeignValue& arguments, ImportReading& reading);

// Names and words of older versions of transformers become what they are called since, with a warning each.
// Whether there was such a name.
bool rename_old_arguments(ForeignValue& arguments, ImportReading& reading);

// Version 4 has two keys of fsdp_config as arguments of their own: puts them there.
void join_old_arguments(ForeignValue& arguments);

}  // namespace shardlab
