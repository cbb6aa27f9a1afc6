// An expression of a lesson, and its value where it needs no figures.
#include "engine/lessons/expression.h"
#include "engine/lessons/lesson_text.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

class NoFigures final : public lessons::FigureSource {
 public:
  Result<lessons::Value> named(const std::string& name) const override {
    return bad_input("", "unknown name " + name);
  }
  Result<lessons::Value> called(const std::string& function,
                                const std::vector<lessons::Value>&) const override {
    return bad_input("", "unknown function " + function);
  }
};

}  // namespace

Answer read_expression(std::string_view bytes) {
  const auto text = lessons::parse_lesson_text(bytes, in_file("lesson.yaml", 1));
  if (!text) check_error(text.error());
  if (text) (void)lessons::filled(*text, NoFigures());
  const auto expression = lessons::parse_expression(bytes, in_file("lesson.yaml", 1));
  if (!expression) return answer_of(expression);
  (void)answer_of(lessons::evaluate(*expression, NoFigures()));
  return Answer::taken;
}

}  // namespace shardlab::fuzz
