#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/base/text/utf8.h"
#include "engine/lessons/expression.h"
#include "engine/lessons/expression_words.h"

namespace shardlab::lessons {
namespace {

using Node = ExpressionNode;

constexpr int k_deepest = 64;  // parentheses and signs within each other
// 1 + 1 + 1 ... is as deep as it is long: whoever walks the tree must not run out of stack.
constexpr std::size_t k_most_words = 1000;

// Recursive descent: every function reads what its name says and leaves the word behind it.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<ExpressionWord> words) : words_(std::move(words)) {}

  Result<Node> whole() {
    SHARDLAB_TRY(Node node, any_of());
    if (word().kind != ExpressionWord::Kind::end) return unexpected();
    return node;
  }

 private:
  const ExpressionWord& word() const { return words_[at_]; }
  bool is_sign(std::string_view sign) const {
    return word().kind == ExpressionWord::Kind::sign && word().text == sign;
  }
  bool is_name(std::string_view name) const {
    return word().kind == ExpressionWord::Kind::name && word().text == name;
  }
  tl::unexpected<Error> unexpected() const {
    if (word().kind == ExpressionWord::Kind::end) return bad_input({}, "the expression ends too early");
    return bad_input({}, fmt::format("'{}' at column {} was not expected", word().text, word().column));
  }

  static Node joined(std::string operation, Node left, Node right) {
    Node node{.kind = Node::Kind::operation, .word = std::move(operation)};
    node.parts.push_back(std::move(left));
    node.parts.push_back(std::move(right));
    return node;
  }

  // Operands of one level, joined from the left by what `is_operator` accepts.
  template <typename IsOperator>
  Result<Node> level(Result<Node> (ExpressionParser::*operand)(), const IsOperator& is_operator) {
    SHARDLAB_TRY(Node node, (this->*operand)());
    while (is_operator()) {
      std::string operation = words_[at_++].text;
      SHARDLAB_TRY(Node right, (this->*operand)());
      node = joined(std::move(operation), std::move(node), std::move(right));
    }
    return node;
  }

  Result<Node> any_of() {
    return level(&ExpressionParser::all_of, [&] { return is_name("or"); });
  }
  Result<Node> all_of() {
    return level(&ExpressionParser::negation, [&] { return is_name("and"); });
  }
  Result<Node> negation() {
    if (!is_name("not")) return comparison();
    if (++depth_ > k_deepest) return bad_input({}, "the expression is nested too deeply");
    ++at_;
    Node node{.kind = Node::Kind::operation, .word = "not"};
    SHARDLAB_TRY(Node operand, negation());
    node.parts.push_back(std::move(operand));
    --depth_;
    return node;
  }
  Result<Node> comparison() {
    return level(&ExpressionParser::sum, [&] {
      constexpr std::array<std::string_view, 6> k_comparisons = {"==", "!=", "<", "<=", ">", ">="};
      return std::any_of(k_comparisons.begin(), k_comparisons.end(),
                         [&](std::string_view sign) { return is_sign(sign); });
    });
  }
  Result<Node> sum() {
    return level(&ExpressionParser::product, [&] { return is_sign("+") || is_sign("-"); });
  }
  Result<Node> product() {
    return level(&ExpressionParser::single, [&] { return is_sign("*") || is_sign("/"); });
  }

  Result<Node> single() {
    if (++depth_ > k_deepest) return bad_input({}, "the expression is nested too deeply");
    Result<Node> node = signed_or_plain();
    --depth_;
    return node;
  }

  Result<Node> signed_or_plain() {
    if (is_sign("-")) {
      Node node{.kind = Node::Kind::operation, .word = words_[at_++].text};
      SHARDLAB_TRY(Node operand, single());
      node.parts.push_back(std::move(operand));
      return node;
    }
    if (is_sign("(")) {
      ++at_;
      SHARDLAB_TRY(Node inside, any_of());
      if (!is_sign(")")) return unexpected();
      ++at_;
      return inside;
    }
    switch (word().kind) {
      case ExpressionWord::Kind::number: return quantity();
      case ExpressionWord::Kind::text:
        return Node{.kind = Node::Kind::literal, .value = text_value(words_[at_++].text)};
      case ExpressionWord::Kind::name: return name_or_call();
      case ExpressionWord::Kind::sign:
      case ExpressionWord::Kind::end: break;
    }
    return unexpected();
  }

  Result<Node> quantity() {
    std::string digits = words_[at_++].text;
    std::erase(digits, ',');
    SHARDLAB_TRY(const double number, parse_number(digits));
    Node node{.kind = Node::Kind::literal, .value = number_value(number)};
    const std::size_t point = digits.find('.');
    if (point != std::string::npos) node.decimals = static_cast<int>(digits.size() - point - 1);
    if (word().kind == ExpressionWord::Kind::name) node.unit = find_unit(word().text);
    if (node.unit == nullptr) return node;
    ++at_;
    node.value.kind = node.unit->kind;
    node.value.number *= node.unit->scale;
    return node;
  }

  Result<Node> name_or_call() {
    Node node{.kind = Node::Kind::name, .word = words_[at_++].text};
    if (!is_sign("(")) return node;
    node.kind = Node::Kind::call;
    ++at_;
    while (!is_sign(")")) {
      if (!node.parts.empty()) {
        if (!is_sign(",")) return unexpected();
        ++at_;
      }
      SHARDLAB_TRY(Node argument, any_of());
      node.parts.push_back(std::move(argument));
    }
    ++at_;
    return node;
  }

  std::vector<ExpressionWord> words_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Result<Node> parse_node(std::string_view source) {
  SHARDLAB_TRY(std::vector<ExpressionWord> words, expression_words(source));
  if (words.size() == 1) return bad_input({}, "an expression is missing");
  if (words.size() > k_most_words)
    return bad_input({}, fmt::format("the expression has more than {} words", k_most_words));
  return ExpressionParser(std::move(words)).whole();
}

}  // namespace

Result<Expression> parse_expression(std::string_view source, const Place& place) {
  Result<Node> root = parse_node(source);
  if (root) return Expression{std::string(source), place, *std::move(root)};
  Error error = std::move(root).error();
  error.place = place;
  constexpr std::size_t k_shown = 200;
  error.what = fmt::format("in '{}{}': {}", whole_characters(source, k_shown),
                           source.size() > k_shown ? "..." : "", error.what);
  return fail(std::move(error));
}

}  // namespace shardlab::lessons
