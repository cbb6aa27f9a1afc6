#include "engine/lessons/lesson_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace shardlab::lessons {
namespace {

// The line of a block of lines, which begins below its key.
Place line_of(const Place& place, std::string_view text, std::size_t at) {
  Place line = place;
  if (line.line == 0 || text.find('\n') == std::string_view::npos) return line;
  line.line +=
      1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  line.column = 0;
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Where `mark` stands outside of quotes.
std::size_t find_unquoted(std::string_view text, std::string_view mark) {
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (quote != 0) {
      if (text[at] == quote) quote = 0;
    } else if (text[at] == '"' || text[at] == '\'') {
      quote = text[at];
    } else if (text.substr(at).starts_with(mark)) {
      return at;
    }
  }
  return std::string_view::npos;
}

Result<ShownFigure> parse_figure(std::string_view inside, const Place& place) {
  ShownFigure figure;
  if (const std::size_t colon = find_unquoted(inside, ":"); colon != std::string_view::npos) {
    figure.style = trimmed(inside.substr(colon + 1));
    inside = inside.substr(0, colon);
  }
  if (const std::size_t is = find_unquoted(inside, " is "); is != std::string_view::npos) {
    figure.written = trimmed(inside.substr(0, is));
    SHARDLAB_TRY(Expression expects, parse_expression(figure.written, place));
    if (expects.root.kind != ExpressionNode::Kind::literal)
      return bad_input(place, fmt::format("'{}' before `is` is no figure", figure.written),
                       "write what is to be read, as {{ 16 B is state_bytes(a) / parameters(a) }}");
    if (!figure.style.empty())
      return bad_input(place, "a written figure has no style", "leave out what stands behind the colon");
    figure.expects = std::move(expects.root);
    inside = inside.substr(is + 4);
  }
  SHARDLAB_TRY(figure.expression, parse_expression(trimmed(inside), place));
  return figure;
}

// The written figure holds where the value rounds to it, to the digits that were written.
bool gives(const ExpressionNode& expected, const Value& value) {
  if (expected.value.kind != value.kind) return false;
  if (value.kind == ValueKind::text) return expected.value == value;
  const double scale = expected.unit != nullptr ? expected.unit->scale : 1;
  const double half = 0.5 * std::pow(10.0, -expected.decimals) * scale;
  return std::abs(value.number - expected.value.number) <= half * (1 + 1e-9);
}

Result<std::string> figure_text(const ShownFigure& figure, const FigureSource& source) {
  SHARDLAB_TRY(const Value value, evaluate(figure.expression, source));
  Result<std::string> text = shown(value, figure.style);
  if (!text) {
    Error error = text.error();
    error.place = figure.expression.place;
    error.what = fmt::format("in '{}': {}", figure.expression.source, error.what);
    return fail(std::move(error));
  }
  if (!figure.expects) return text;
  if (gives(*figure.expects, value)) return figure.written;
  return bad_input(
      figure.expression.place,
      fmt::format("the text says {}, but {} is {}", figure.written, figure.expression.source, *text),
      "correct the text, or what it is reckoned from");
}

}  // namespace

Result<LessonText> parse_lesson_text(std::string_view text, const Place& place) {
  LessonText result{{}, place};
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find("{{", at);
    const std::string_view plain = text.substr(at, open == std::string_view::npos ? open : open - at);
    if (const auto typed = typed_figure(plain))
      return bad_input(line_of(place, text, at + plain.find(*typed)),
                       fmt::format("'{}' is a figure that is typed by hand", *typed),
                       "write where it comes from: {{ expression }}, or {{ figure is expression }}");
    TextPiece piece{std::string(plain), {}};
    at += plain.size();
    if (open != std::string_view::npos) {
      const std::size_t close = text.find("}}", open);
      if (close == std::string_view::npos)
        return bad_input(line_of(place, text, open), "a {{ is not closed", "write }} behind the expression");
      SHARDLAB_TRY(piece.figure,
                   parse_figure(text.substr(open + 2, close - open - 2), line_of(place, text, open)));
      at = close + 2;
    }
    result.pieces.push_back(std::move(piece));
  }
  return result;
}

LessonText fixed_text(std::string text, const Place& place) {
  return {{{std::move(text), {}}}, place};
}

Result<std::string> filled(const LessonText& text, const FigureSource& source) {
  std::string result;
  for (const TextPiece& piece : text.pieces) {
    result += piece.text;
    if (!piece.figure) continue;
    SHARDLAB_TRY(const std::string figure, figure_text(*piece.figure, source));
    result += figure;
  }
  return result;
}

}  // namespace shardlab::lessons
