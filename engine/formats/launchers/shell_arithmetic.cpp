#include "engine/formats/launchers/shell_arithmetic.h"

#include <cctype>

#include "engine/base/parse.h"

namespace shardlab {
namespace {

using Value = std::optional<std::int64_t>;

constexpr std::int64_t k_largest = 1'000'000'000'000;
constexpr int k_most_parts = 50;

class Expression {
 public:
  Expression(std::string_view text, const ShellVariable& variable) : text_(text), variable_(variable) {}

  Value whole() {
    const Value value = sum();
    return peek() == '\0' ? value : std::nullopt;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  static Value bounded(std::int64_t value) {
    return value > k_largest || value < -k_largest ? Value() : Value(value);
  }

  static Value combined(char sign, std::int64_t left, std::int64_t right) {
    if ((sign == '/' || sign == '%') && right == 0) return std::nullopt;
    switch (sign) {
      case '+': return bounded(left + right);
      case '-': return bounded(left - right);
      case '/': return left / right;
      case '%': return left % right;
      default: break;
    }
    const bool fits =
        left == 0 || (right <= k_largest / std::abs(left) && right >= -k_largest / std::abs(left));
    return fits ? Value(left * right) : std::nullopt;
  }

  Value sum() {
    Value left = product();
    while (left && (peek() == '+' || peek() == '-')) {
      const char sign = text_[at_++];
      const Value right = product();
      left = right ? combined(sign, *left, *right) : std::nullopt;
    }
    return left;
  }

  Value product() {
    Value left = single();
    while (left && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char sign = text_[at_++];
      const Value right = single();
      left = right ? combined(sign, *left, *right) : std::nullopt;
    }
    return left;
  }

  Value single() {
    if (++parts_ > k_most_parts) return std::nullopt;
    if (peek() == '(') {
      ++at_;
      const Value value = sum();
      if (peek() != ')') return std::nullopt;
      ++at_;
      return value;
    }
    if (peek() == '$') ++at_;
    const bool braces = peek() == '{';
    if (braces) ++at_;
    std::string word;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      word += text_[at_++];
    if (braces && peek() != '}') return std::nullopt;
    if (braces) ++at_;
    const bool is_number = !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
    const auto value = parse_integer(is_number ? word : variable_(word));
    return value ? bounded(*value) : std::nullopt;
  }

  std::string_view text_;
  const ShellVariable& variable_;
  std::size_t at_ = 0;
  int parts_ = 0;
};

}  // namespace

Value shell_arithmetic(std::string_view expression, const ShellVariable& variable) {
  return Expression(expression, variable).whole();
}

}  // namespace shardlab
