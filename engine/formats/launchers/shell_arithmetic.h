// What stands in $(( ... )): whole numbers, + - * / % and parentheses.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace shardlab {

// The value of a variable as text; empty: it is not known.
using ShellVariable = std::function<std::string(std::string_view name)>;

// Nothing where a name is not known, a number overflows or divides by zero, or where there is anything else.
std::optional<std::int64_t> shell_arithmetic(std::string_view expression, const ShellVariable& variable);

}  // namespace shardlab
