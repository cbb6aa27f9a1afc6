#include "engine/store/lesson_record.h"

#include "tests/catch.h"

namespace shardlab {

TEST_CASE("a lesson goes on where it was left, unless it is done or has other steps now") {
  const std::vector<LessonProgress> progress = {{"01-a", 3, 9, 0}, {"02-b", 9, 9, 1'700'000'000}};
  CHECK(progress_in(progress, "03-c") == nullptr);
  CHECK(step_to_go_on_with(progress, "01-a", 9) == 3);
  CHECK(step_to_go_on_with(progress, "01-a", 8) == 1);
  CHECK(step_to_go_on_with(progress, "02-b", 9) == 1);
  CHECK(step_to_go_on_with(progress, "03-c", 9) == 1);
}

TEST_CASE("only the first answer to a question counts") {
  const std::vector<LessonAnswer> answers = {{1, "01-a", 3, "a", false},
                                             {2, "01-a", 3, "b", true},
                                             {3, "01-a", 5, "b", true},
                                             {4, "02-b", 3, "b", true}};
  const FirstAnswers first = first_answers(answers, "01-a");
  CHECK(first.right == 1);
  CHECK(first.all == 2);
  const LessonProgress open{"01-a", 3, 9, 0}, done{"01-a", 9, 9, 1'700'000'000};
  CHECK(progress_words(nullptr, first, 3).empty());
  CHECK(progress_words(&open, first, 3) == "at 3 of 9");
  CHECK(progress_words(&done, first, 3) == "done, 1 of 3 right");  // the third was told
  CHECK(progress_words(&done, {}, 0) == "done");
}

}  // namespace shardlab
