// Texts of lessons: Markdown in which every figure is an expression.
//
//   Rank 0 holds {{ peak_allocated(a) }}, {{ peak_allocated(b) / peak_allocated(a) : 1 }} times as much.
//   That is {{ 16 B is state_bytes(a) / parameters(a) }} a parameter.
//
// After a colon stands a style of shown() (lesson_value.h). Before `is` stands a figure as it is to be read:
// filling the text fails where the expression gives another one. A number that stands in the text by itself
// is refused, so that no figure is typed by hand; numbers that name something (rank 0, layer 3, FSDP2) are
// not figures, nor is what stands in `backquotes`, unless it has a unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/lessons/expression.h"

namespace shardlab::lessons {

struct ShownFigure {
  Expression expression;
  std::string style;                      // empty: as the value's kind is shown
  std::string written;                    // before `is`; empty: there is none
  std::optional<ExpressionNode> expects;  // of `written`
};

struct TextPiece {
  std::string text;
  std::optional<ShownFigure> figure;  // behind the text
};

struct LessonText {
  std::vector<TextPiece> pieces;
  Place place;

  bool empty() const { return pieces.empty(); }
};

// Errors: bad_input at the place of the text (of its line, where it has several): a {{ that is not closed,
// no expression, a figure typed by hand.
Result<LessonText> parse_lesson_text(std::string_view text, const Place& place);

// A text in which nothing is checked or replaced.
LessonText fixed_text(std::string text, const Place& place);

// With every figure in its place. Errors: those of evaluate(), of shown(), and bad_input for a written figure
// that the expression does not give.
Result<std::string> filled(const LessonText& text, const FigureSource& source);

// The first number in a text that stands for a figure; nothing where there is none.
std::optional<std::string> typed_figure(std::string_view text);

}  // namespace shardlab::lessons
