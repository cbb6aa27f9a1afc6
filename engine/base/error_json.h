// An error as one line of JSON, by which it passes from one program to another: from a rank to whoever
// started it, from a command to the window. docs/json.md, "Errors", lists the fields.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// An object without line breaks. Bytes that are not UTF-8 are replaced.
std::string error_json(const Error& error);

// Reads what error_json wrote; fields beside these are ignored, and those that are missing or of another type
// are empty. A text that is no object gives an internal error without words.
Error parse_error_json(std::string_view text);

}  // namespace shardlab
