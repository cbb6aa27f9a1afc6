#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/lessons/expression.h"

namespace shardlab::lessons {
namespace {

using Node = ExpressionNode;

Result<Value> value_of(const Node& node, const FigureSource& source);

Result<Value> truth_of(const Node& node, const FigureSource& source) {
  SHARDLAB_TRY(Value value, value_of(node, source));
  if (value.kind == ValueKind::truth) return value;
  return bad_input({}, fmt::format("yes or no was expected, not {}", to_string(value.kind)));
}

// The right side of `and` and `or` is asked only where it decides.
Result<Value> operated(const Node& node, const FigureSource& source) {
  if (node.word == "not") {
    SHARDLAB_TRY(const Value value, truth_of(node.parts[0], source));
    return truth_value(!value.yes());
  }
  if (node.word == "and" || node.word == "or") {
    SHARDLAB_TRY(Value left, truth_of(node.parts[0], source));
    if (left.yes() == (node.word == "or")) return left;
    return truth_of(node.parts[1], source);
  }
  SHARDLAB_TRY(const Value left, value_of(node.parts[0], source));
  if (node.parts.size() == 1) return combined("*", left, number_value(-1));
  SHARDLAB_TRY(const Value right, value_of(node.parts[1], source));
  return combined(node.word, left, right);
}

Result<Value> chosen(const Node& node, const FigureSource& source) {
  if (node.parts.size() != 3) return bad_input({}, "if takes a condition and two values");
  SHARDLAB_TRY(const Value condition, truth_of(node.parts[0], source));
  return value_of(node.parts[condition.yes() ? 1 : 2], source);
}

Result<Value> extreme(const std::string& word, const std::vector<Value>& values) {
  if (values.empty()) return bad_input({}, word + " of nothing");
  Value best = values[0];
  for (const Value& value : values) {
    SHARDLAB_TRY(const Value better, combined(word == "max" ? ">" : "<", value, best));
    if (better.yes()) best = value;
  }
  return best;
}

Result<Value> called(const Node& node, const FigureSource& source) {
  if (node.word == "if") return chosen(node, source);
  std::vector<Value> arguments;
  for (const Node& part : node.parts) {
    SHARDLAB_TRY(Value argument, value_of(part, source));
    arguments.push_back(std::move(argument));
  }
  if (node.word == "min" || node.word == "max") return extreme(node.word, arguments);
  if (node.word == "round" || node.word == "abs") {
    if (arguments.size() != 1) return bad_input({}, node.word + " takes one value");
    Value value = arguments[0];
    if (!combined("<", value, value))
      return bad_input({}, fmt::format("{} of {}", node.word, to_string(value.kind)));
    value.number = node.word == "abs" ? std::abs(value.number) : std::round(value.number);
    return value;
  }
  return source.called(node.word, arguments);
}

Result<Value> value_of(const Node& node, const FigureSource& source) {
  switch (node.kind) {
    case Node::Kind::literal: return node.value;
    case Node::Kind::name: return source.named(node.word);
    case Node::Kind::call: return called(node, source);
    case Node::Kind::operation: return operated(node, source);
  }
  return internal_error("expression", "a node of no kind");
}

tl::unexpected<Error> at_place(Error error, const Expression& expression) {
  if (!error.parts.empty()) error.what = what_text(error);
  error.parts.clear();
  const std::string inner = to_string(error.place);
  error.what = fmt::format("in '{}': {}{}", expression.source, inner.empty() ? "" : inner + ": ", error.what);
  error.place = expression.place;
  return fail(std::move(error));
}

}  // namespace

const std::vector<std::string>& common_functions() {
  static const std::vector<std::string> names = {"abs", "if", "max", "min", "round"};
  return names;
}

Result<Value> evaluate(const Expression& expression, const FigureSource& source) {
  Result<Value> value = value_of(expression.root, source);
  if (!value) return at_place(std::move(value).error(), expression);
  return value;
}

Result<bool> evaluate_truth(const Expression& expression, const FigureSource& source) {
  Result<Value> value = truth_of(expression.root, source);
  if (!value) return at_place(std::move(value).error(), expression);
  return value->yes();
}

}  // namespace shardlab::lessons
