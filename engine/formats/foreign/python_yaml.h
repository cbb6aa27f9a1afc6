// YAML as PyYAML's safe_load types it, which accelerate and transformers use: YAML 1.1, where `no` without
// quotes is false, `1e8` is text and `010` is eight.
//
// Source: PyYAML 6.0, resolver.py and constructor.py.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/formats/foreign/foreign_value.h"

namespace shardlab {

// `name` stands for the file in places. Duplicate keys, tags and several documents are errors. The root must
// be a map.
Result<ForeignValue> parse_python_yaml(std::string_view text, std::string_view name);

// A scalar without quotes.
ForeignValue python_scalar(std::string_view text);

}  // namespace shardlab
