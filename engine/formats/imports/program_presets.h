// Configurations that a program brings with it, named by a word where others name a file
// (assets/formats/presets.yaml).
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// Whether the word names a configuration of DeepSpeed: "zero2" of ms-swift.
bool is_deepspeed_preset(const std::string& word);

// That configuration, every value with the place of `word`. bad_input where there is none of that name.
Result<ForeignValue> deepspeed_preset(const ForeignValue& word);

// `fsdp` as a word that names such a configuration ("fsdp2" of ms-swift) becomes fsdp_config. Its own
// checkpoints take the place of the Trainer's, as the program does it.
void join_fsdp_preset(ForeignValue& arguments, ImportReading& reading);

}  // namespace shardlab
