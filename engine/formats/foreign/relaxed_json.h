// JSON, and the human form of it that DeepSpeed's own loader accepts, with places.
//
// Strict where silence would hide a mistake: duplicate keys are errors in both. Nothing in a text can make
// reading crash, recurse deeply or grow without limit.
// Source of the human form: hjson 3.1, decoder.py; comments, keys and texts without quotes, commas left out,
// texts of several lines between three quotes, braces of the root left out.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/formats/foreign/foreign_value.h"

namespace shardlab {

enum class JsonForm : std::uint8_t {
  strict,  // RFC 8259, as Python's json reads it
  human,   // as hjson reads it
};

// `name` stands for the file in places. The root must be a map.
Result<ForeignValue> parse_foreign_json(std::string_view text, std::string_view name, JsonForm form);

}  // namespace shardlab
