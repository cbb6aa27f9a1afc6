// Texts with figures in them, and figures that somebody typed.
#include "engine/lessons/lesson_text.h"

#include "tests/catch.h"
#include "tests/unit/lessons/made_up_figures.h"

namespace shardlab::lessons {
namespace {

std::string read(const std::string& text) {
  const auto parsed = parse_lesson_text(text, in_file("lesson.yaml"));
  if (!parsed) return "refused: " + parsed.error().what;
  const auto done = filled(*parsed, test::MadeUpFigures());
  return done ? *done : "refused: " + done.error().what;
}

TEST_CASE("figures stand in texts in the style that is asked for") {
  CHECK(read("{{ small }} and {{ large : KiB }}.") == "1.00 MiB and 3,072 KiB.");
  CHECK(read("{{ x / y : % }}, {{ x : words }}, {{ y - x : +1 }}") == "75 %, three, +1.0");
  CHECK(read("{{ 3 MiB is large }}") == "3 MiB");
  CHECK_THAT(read("{{ 4 MiB is large }}"),
             shardlab::test::contains_text("the text says 4 MiB, but large is 3.00 MiB"));
  CHECK_THAT(read("{{ small : ms }}"), shardlab::test::contains_text("bytes cannot be shown as 'ms'"));
  CHECK_THAT(read("{{ x"), shardlab::test::contains_text("a {{ is not closed"));
}

TEST_CASE("numbers that name something are no figures") {
  for (const char* name :
       {"rank 0", "layers 3", "FSDP2", "float16", "ZeRO-1", "H100", "`train.micro_batch: 2`",
        "1. first\n2. second", "[a](https://example.org/12)", "torch 2.11"}) {
    INFO(name);
    CHECK(!typed_figure(name));
  }
  for (const char* figure : {"about 3 times", "12 GiB", "`12 GiB`", "half of 7", "50 %", "80 GB of memory"}) {
    INFO(figure);
    CHECK(typed_figure(figure));
  }
  CHECK_THAT(read("It takes 12 GiB."),
             shardlab::test::contains_text("'12' is a figure that is typed by hand"));
}

}  // namespace
}  // namespace shardlab::lessons
