// The words of an expression, one after the other. Internal to parse_expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab::lessons {

struct ExpressionWord {
  enum class Kind : std::uint8_t { number, name, text, sign, end };

  Kind kind = Kind::end;
  std::string text;
  int column = 0;  // from 1, in the expression
};

// The last is the end. bad_input without a place for what is no word.
Result<std::vector<ExpressionWord>> expression_words(std::string_view source);

}  // namespace shardlab::lessons
