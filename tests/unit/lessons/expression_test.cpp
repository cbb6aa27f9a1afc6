// Expressions of lessons: what they give, and what is refused with its reason.
#include "engine/lessons/expression.h"

#include "tests/catch.h"
#include "tests/unit/lessons/made_up_figures.h"

namespace shardlab::lessons {
namespace {

std::string given(const std::string& source) {
  const auto expression = parse_expression(source, in_file("lesson.yaml"));
  if (!expression) return expression.error().what;
  const auto value = evaluate(*expression, test::MadeUpFigures());
  if (!value) return value.error().what;
  const auto text = shown(*value);
  return text ? *text : text.error().what;
}

TEST_CASE("figures without decimals have separators") {
  CHECK(shown(number_value(18'008.4), "0").value() == "18,008");
}

TEST_CASE("operators bind as in arithmetic, and words last") {
  CHECK(given("1 + 2 * 3") == "7");
  CHECK(given("(1 + 2) * 3") == "9");
  CHECK(given("10 - 4 - 3") == "3");
  CHECK(given("-x + 5") == "2");
  CHECK(given("x < y and y < 5 or 1 > 2") == "yes");
  CHECK(given("not x == 3") == "no");
  CHECK(given("if(x > y, 'more', 'less')") == "less");
  CHECK(given("max(small, large) / small") == "3");
  CHECK(given("round(7 / 2) + abs(0 - 1)") == "5");
}

TEST_CASE("quantities keep their units") {
  CHECK(given("small + 1 MiB") == "2.00 MiB");
  CHECK(given("small * 2 == 2 MiB") == "yes");
  CHECK(given("step_time(a) < 2 ms") == "yes");
  CHECK(given("50 % * 4") == "2");
  CHECK(given("1,024 KiB == small") == "yes");
}

TEST_CASE("what does not fit is said") {
  CHECK_THAT(given("small + 3"), shardlab::test::contains_text("'+' between bytes and a number"));
  CHECK_THAT(given("small > 1 ms"), shardlab::test::contains_text("'>' between bytes and a time"));
  CHECK_THAT(given("x / 0"), shardlab::test::contains_text("a division by zero"));
  CHECK_THAT(given("x and y"), shardlab::test::contains_text("yes or no was expected, not a number"));
  CHECK_THAT(given("a"), shardlab::test::contains_text("ask a function of it") ||
                             shardlab::test::contains_text("nothing to show"));
  CHECK_THAT(given("peak(a)"), shardlab::test::contains_text("unknown function 'peak'"));
}

TEST_CASE("what is no expression is refused where it goes wrong") {
  CHECK_THAT(given(""), shardlab::test::contains_text("an expression is missing"));
  CHECK_THAT(given("1 +"), shardlab::test::contains_text("the expression ends too early"));
  CHECK_THAT(given("1 2"), shardlab::test::contains_text("'2' at column 3 was not expected"));
  CHECK_THAT(given("max(1, 2"), shardlab::test::contains_text("ends too early"));
  CHECK_THAT(given("x $ y"), shardlab::test::contains_text("in 'x $ y'"));
}

// A tree as deep as the text is long would end the program where somebody walks it.
TEST_CASE("an endless expression is refused") {
  std::string sum = "1", signs, parentheses;
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  signs.assign(100'000, '-');
  parentheses.assign(100'000, '(');
  for (const std::string& source : {sum, signs + "1", parentheses + "1"}) {
    const auto expression = parse_expression(source, {});
    REQUIRE(!expression);
    CHECK(expression.error().what.size() < 400);
  }
}

}  // namespace
}  // namespace shardlab::lessons
