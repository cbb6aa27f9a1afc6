// A lesson gone through without a window: reckoned and judged on a thread, kept as the terminal keeps it.
#include <thread>

#include "engine/store/run_store.h"
#include "gui/view_model/lessons/lesson_job.h"
#include "gui/view_model/run_titles.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/small_lesson.h"

namespace shardlab::view {
namespace {

using lessons::StepKind;

// Until everything that was asked for is there.
void settle(LessonJob& job) {
  for (int i = 0; i < 3000 && job.busy(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    job.poll();
  }
  REQUIRE_FALSE(job.busy());
}

void go_to(LessonJob& job, int step) {
  job.go_to(step);
  settle(job);
  REQUIRE(job.view().page);
}

LessonReply reply_to(LessonJob& job, const std::string& typed) {
  job.answer(typed);
  settle(job);
  return job.view().replies.at(job.view().step).back();
}

const LessonProgress* kept(const std::vector<LessonProgress>& progress) {
  return progress_in(progress, "01-small");
}

}  // namespace

TEST_CASE("the course is listed by its parts, with what is done of each lesson") {
  const test::TemporaryFolder folder;
  LessonJob job({}, test::write_small_course(folder.path()));
  job.read_shelf();
  settle(job);
  const LessonShelf& shelf = *job.view().shelf;
  REQUIRE(shelf.parts.size() == 1);
  CHECK(shelf.parts[0].minutes == 2);
  CHECK(shelf.parts[0].coming.at(0).waits == "its text");
  const ShelfLesson& lesson = shelf.parts[0].lessons.at(0);
  CHECK(lesson.number == "01");
  CHECK(lesson.state.empty());
  REQUIRE(shelf.next() == &lesson);
}

TEST_CASE("a course that cannot be read is told, and the shelf stays") {
  const test::TemporaryFolder folder;
  LessonJob job({}, folder.path());
  job.read_shelf();
  settle(job);
  CHECK_FALSE(job.view().shelf);
  REQUIRE(job.view().shelf_error);
  CHECK(job.view().shelf_error->kind == ErrorKind::bad_input);
}

TEST_CASE("the course that ships is listed, and its lessons are found by a number") {
  LessonJob job;
  job.read_shelf();
  settle(job);
  REQUIRE(job.view().shelf);
  const LessonShelf& shelf = *job.view().shelf;
  CHECK(shelf.parts.size() >= 2);
  const std::vector<ShelfLesson>& first = shelf.parts[0].lessons;
  REQUIRE(first.size() >= 2);
  CHECK(shelf.after(first[0].folder) == &first[1]);
  CHECK(shelf.after(first.back().folder) == &shelf.parts[1].lessons[0]);
  CHECK(shelf.after(shelf.parts.back().lessons.back().folder) == nullptr);
  CHECK(shelf.after("elsewhere") == nullptr);
  job.open("3", 2);
  settle(job);
  REQUIRE(job.view().lesson);
  CHECK(job.view().lesson->name == "03-three-cuts");
  CHECK(job.view().step == 2);
}

TEST_CASE("a lesson is gone through step by step") {
  const test::TemporaryFolder folder;
  LessonJob job;
  job.open(test::write_small_lesson(folder.path()).string());
  settle(job);
  const LessonView& view = job.view();
  REQUIRE(view.lesson);
  CHECK(view.lesson->steps == 11);
  CHECK(view.step == 1);
  REQUIRE(view.page);
  CHECK(view.page->text.size() == 3);
  CHECK(lessons::plain_text(view.page->text[0].line).find("{{") == std::string::npos);
  CHECK(view.may_go_on());

  go_to(job, 2);
  const LookPage& look = *view.page->look;
  CHECK(look.panel == lessons::LookPanel::memory);
  CHECK(look.chosen);
  CHECK(look.scenes.at(0).text.starts_with("name: small-lesson"));
  CHECK(look.scenes.at(0).file.filename() == "tiny-a.yaml");
  CHECK_FALSE(look.picture.empty());

  SECTION("a scenario with settings laid upon it is as it was written") {
    go_to(job, 8);
    const std::string text = view.page->look->scenes.at(1).text;
    CHECK(text.starts_with("name: small-lesson\nmodel: { config: tiny-llama, sequence_length: 64 }\n"));
    CHECK(text.find("micro_batch: 4") != std::string::npos);
    REQUIRE(view.page->look->scenes.at(1).run);
    CHECK(title_of(*view.page->look->scenes.at(1).run) == "b");
  }
  SECTION("a choice") {
    go_to(job, 3);
    CHECK(view.page->question->is_choice);
    CHECK(view.page->question->choices.size() == 2);
    CHECK_FALSE(view.may_go_on());
    const LessonReply wrong = reply_to(job, "a");
    CHECK(wrong.understood);
    CHECK_FALSE(wrong.right);
    CHECK(lessons::plain_text(wrong.reply.at(0).line) == "More tokens leave more behind.");
    CHECK(wrong.source == "a made-up thread, https://example.org/1");
    CHECK_FALSE(view.may_go_on());
    CHECK(reply_to(job, "b").right);
    CHECK(view.may_go_on());
    CHECK(view.end_words() == "A small lesson is done: 0 of 1 answered right at the first attempt.");
  }
  SECTION("a number, an order and an instruction") {
    go_to(job, 4);
    CHECK_FALSE(reply_to(job, "some").understood);
    CHECK_FALSE(reply_to(job, "1").right);
    CHECK(reply_to(job, "2").right);
    go_to(job, 5);
    CHECK_FALSE(view.page->question->is_choice);
    CHECK(view.page->question->choices.size() == 3);
    CHECK(reply_to(job, "b c a").right);
    go_to(job, 6);
    REQUIRE(view.page->question->scene);
    CHECK(view.page->question->is_instruction);
    CHECK(reply_to(job, "AllGather u0").understood);
    CHECK(view.end_words().find("of 3") != std::string::npos);
  }
  SECTION("a change, and what the scenario does not allow") {
    go_to(job, 7);
    CHECK_FALSE(reply_to(job, "train.micro_batch=0").right);
    CHECK_FALSE(reply_to(job, "train.micro_batch=1").right);
    CHECK(reply_to(job, "train.micro_batch=3").right);
  }
  SECTION("told instead of answered") {
    go_to(job, 3);
    job.tell();
    CHECK(view.may_go_on());
    CHECK(lessons::plain_text(view.page->question->answer.at(0).line) == "It rises");
    CHECK(view.end_words() == "A small lesson is done: 0 of 1 answered right at the first attempt.");
  }
  SECTION("a comparison opens both scenarios, the second with its settings") {
    go_to(job, 8);
    REQUIRE(view.page->look->scenes.size() == 2);
    CHECK(view.page->look->scenes[1].text.find("micro_batch: 4") != std::string::npos);
    CHECK(view.page->look->scenes[1].plan_hash != view.page->look->scenes[0].plan_hash);
  }
  SECTION("a run and a try") {
    go_to(job, 9);
    CHECK(view.page->run->command.starts_with("shardlab validate "));
    go_to(job, 10);
    CHECK(view.page->free->settings == std::vector<std::string>{"train.micro_batch=1"});
    CHECK(view.page->free->effect.find("peak of live tensors") != std::string::npos);
    job.try_settings({"train.micro_batch=nothing"});
    settle(job);
    REQUIRE(view.effect);
    CHECK_FALSE(*view.effect);
  }
}

TEST_CASE("progress and answers are those of the terminal") {
  const test::TemporaryFolder folder;
  const auto database = folder.path() / "runs.db";
  const auto lesson = test::write_small_lesson(folder.path());
  {
    LessonJob job;
    job.use_database(database);
    job.open(lesson.string());
    settle(job);
    go_to(job, 3);
    reply_to(job, "what");  // is no answer and is not kept
    reply_to(job, "a");
    reply_to(job, "b");
    CHECK_FALSE(job.view().trouble);
  }
  RunStore store = RunStore::open(database, OpenMode::existing).value();
  REQUIRE(kept(store.lesson_progress().value()));
  CHECK(*kept(store.lesson_progress().value()) == LessonProgress{"01-small", 3, 11, 0});
  const std::vector<LessonAnswer> answers = store.lesson_answers().value();
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].step == 3);
  CHECK(answers[0].answer == "a");
  CHECK_FALSE(answers[0].right);
  CHECK(answers[1].right);

  // What another program kept is gone on with.
  REQUIRE_OK(store.save_lesson_progress({"01-small", 5, 11, 0}));
  LessonJob job;
  job.use_database(database);
  job.open(lesson.string());
  settle(job);
  CHECK(job.view().step == 5);
  job.open(lesson.string(), 1);
  settle(job);
  CHECK(job.view().step == 1);
  job.go_to(12);
  settle(job);
  CHECK(job.view().at_end());
  CHECK(kept(store.lesson_progress().value())->finished > 0);
  job.leave();
  settle(job);
  CHECK_FALSE(job.view().lesson);
}

TEST_CASE("a database that cannot be used is told and the lesson goes on") {
  const test::TemporaryFolder folder;
  const auto database = folder.path() / "runs.db";
  std::ofstream(database) << "no database";
  LessonJob job;
  job.use_database(database);
  job.open(test::write_small_lesson(folder.path()).string());
  settle(job);
  CHECK(job.view().page);
  CHECK(job.view().trouble);
}

TEST_CASE("a lesson with a mistake is told, and the one before stays") {
  const test::TemporaryFolder folder;
  const auto broken = test::write_small_lesson(folder.path(), "02-broken");
  std::ofstream(broken / "lesson.yaml") << "title: Nothing else\n";
  LessonJob job;
  job.open(test::write_small_lesson(folder.path()).string());
  settle(job);
  job.open(broken.string());
  settle(job);
  CHECK(job.view().error);
  CHECK(job.view().lesson->name == "01-small");
}

TEST_CASE("a run that is not there is told") {
  const test::TemporaryFolder folder;
  LessonJob job;
  job.use_database(folder.path() / "runs.db");
  job.open(test::write_small_lesson(folder.path()).string());
  settle(job);
  go_to(job, 9);
  job.take_run(RunId{7});
  settle(job);
  REQUIRE(job.view().run);
  CHECK_FALSE(*job.view().run);
}

}  // namespace shardlab::view
