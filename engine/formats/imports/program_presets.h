// Configurations that a program brings with it, named by a word where others name a file
// (assets/formats/presets.yaml).
#pragma once

#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/formats/foreign/foreign_value.h"

namespace shardlab {

// Whether the word names a configuration of DeepSpeed: "zero2" of ms-swift.
bool is_deepspeed_preset(const std::string& word);

// That configuration, every value with the place of `word`. bad_input where there is none of that name.
Result<ForeignValue> deepspeed_preset(const ForeignValue& word);

// The fsdp_config that the word names ("fsdp2" of ms-swift), with the place of `word`; nothing where it names
// none.
std::optional<ForeignValue> fsdp_preset(const ForeignValue& word);

}  // namespace shardlab
