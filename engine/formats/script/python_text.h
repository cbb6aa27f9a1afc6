// Python source that is put together from pieces.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "engine/formats/tools/tool_key.h"

namespace shardlab {

// `text` with every @NAME@ replaced. Names that are not given are a defect of the caller and stay.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string>> places);

// A value of JSON as Python writes it: True, None, 'text'. Objects have a line for each entry, behind
// `indent` spaces.
std::string python_literal(const ToolValue& value, int indent = 0);

// "True" or "False".
std::string python_bool(bool value);

// "a, b, c", without those that are empty.
std::string joined_arguments(std::initializer_list<std::string> arguments);

// `text` with `spaces` in front of every line that is not empty.
std::string indented(std::string_view text, int spaces);

}  // namespace shardlab
