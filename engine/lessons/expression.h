// Expressions over results, as lessons write them: peak_allocated(a) / peak_allocated(b) >= 1.5.
//
// Quantities with units (81.1 MiB, 25 ms, 10 %), texts in quotes, names of the lesson's scenarios, functions,
// + - * / and comparisons, `and`, `or`, `not`, parentheses. What a name and a function mean, a FigureSource
// knows; round, min, max, abs and if are known here. Reading is pure; evaluating is as pure as the source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/lessons/lesson_value.h"

namespace shardlab::lessons {

struct ExpressionNode {
  enum class Kind : std::uint8_t { literal, name, call, operation };

  Kind kind = Kind::literal;
  Value value{};                        // of a literal
  std::string word{};                   // a name, a function, an operator
  std::vector<ExpressionNode> parts{};  // arguments or operands
  int decimals = 0;                     // a literal quantity: digits after the point as written
  const ValueUnit* unit = nullptr;      // likewise: the unit it was written in; null: none
};

struct Expression {
  std::string source;
  Place place;
  ExpressionNode root;
};

// bad_input at `place` for what is no expression, saying where in it.
Result<Expression> parse_expression(std::string_view source, const Place& place);

// The functions that need no source, for messages and the document.
const std::vector<std::string>& common_functions();

// What names and functions mean.
class FigureSource {
 public:
  virtual ~FigureSource() = default;

  // bad_input without a place for an unknown name or function (with the nearest), and for arguments that do
  // not fit; any error of making the figure.
  virtual Result<Value> named(const std::string& name) const = 0;
  virtual Result<Value> called(const std::string& function, const std::vector<Value>& arguments) const = 0;
};

// Errors: those of the source and of combined(), at the place of the expression and with its text.
Result<Value> evaluate(const Expression& expression, const FigureSource& source);
// The same for what must be yes or no.
Result<bool> evaluate_truth(const Expression& expression, const FigureSource& source);

// Calls visit(node) for all nodes.
template <typename Visit>
void visit_nodes(const ExpressionNode& node, const Visit& visit) {
  visit(node);
  for (const ExpressionNode& part : node.parts) visit_nodes(part, visit);
}

}  // namespace shardlab::lessons
