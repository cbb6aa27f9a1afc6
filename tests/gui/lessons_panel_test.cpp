// A learner goes through a lesson: reads, looks, answers, tries, leaves, and goes on.
#include <algorithm>
#include <thread>

#include "engine/store/run_store.h"
#include "gui/widgets/picture.h"
#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"
#include "tests/small_lesson.h"

namespace shardlab::gui {
namespace {

namespace fs = std::filesystem;

#ifdef SHARDLAB_TEST_REAL_RUNS
constexpr bool k_trains = true;
#else
constexpr bool k_trains = false;
#endif

// For looking at: $SHARDLAB_KEEP_PICTURES names a folder.
void keep_lesson_picture(Ui& ui, const std::string& name) {
  const char* const folder = std::getenv("SHARDLAB_KEEP_PICTURES");
  if (folder != nullptr) REQUIRE_OK(write_png(ui.headless().picture(), fs::path(folder) / (name + ".png")));
}

void open_lesson(Ui& ui, const fs::path& folder) {
  ui.shell().show_panel("lessons");
  ui.settle();
  ui.enter("lessons", "##folder", folder.string());
  ui.settle();
}

const char* forward(Ui& ui) {
  return ui.shows("lessons", "End") ? "End" : "Next";
}

void next(Ui& ui) {
  ui.click("lessons", forward(ui));
  ui.settle();
}

bool can_go_on(Ui& ui) {
  return !ui.item("lessons", forward(ui)).disabled;
}

void answer(Ui& ui, const std::string& typed) {
  ui.enter("lessons", "##answer", typed);
  ui.settle();
}

std::int64_t peak_of(Ui& ui) {
  return ui.session().prediction()->summary().memory->peak_allocated.value;
}

}  // namespace

TEST_CASE("lessons: a learner goes through one, and the panels show what it speaks of") {
  const test::TemporaryFolder folder;
  const fs::path lesson = test::write_small_lesson(folder.path());
  Ui ui;
  ui.session().use_database(folder.path() / "runs.db");
  open_lesson(ui, lesson);
  CHECK(ui.session().documents_opened() == 0);
  keep_lesson_picture(ui, "lesson-text");

  next(ui);  // look at memory
  REQUIRE(ui.session().prediction());
  CHECK(ui.session().document().title() == "tiny-a.yaml");
  CHECK(ui.session().chosen() == ui.session().prediction()->summary().memory->peak_instruction);
  CHECK(ui.shows("memory", "Whole step"));
  CHECK(ui.session().selection().highlight() == "activation");
  keep_lesson_picture(ui, "lesson-look");
  ui.session().selection().show_time(TimeRange{Nanoseconds(0), Nanoseconds(1000)});

  next(ui);  // choose
  CHECK_FALSE(can_go_on(ui));
  ui.click("lessons", "a##choice");
  ui.settle();
  CHECK(ui.shows("lessons", "Not so."));
  keep_lesson_picture(ui, "lesson-wrong");
  CHECK_FALSE(can_go_on(ui));
  ui.click("lessons", "b##choice");
  ui.settle();
  CHECK(ui.shows("lessons", "That is right."));
  CHECK(can_go_on(ui));

  next(ui);  // a number
  answer(ui, "two");
  CHECK(ui.shows("lessons", "That is no answer."));
  answer(ui, "2");
  CHECK(ui.shows("lessons", "That is right."));

  next(ui);  // an order, put together by its letters
  for (const char* const letter : {"b##choice", "c##choice", "a##choice"}) ui.click("lessons", letter);
  ui.click("lessons", "Answer");
  ui.settle();
  CHECK(ui.shows("lessons", "That is right."));

  next(ui);  // an instruction, chosen in another panel
  const StepPlan& plan = ui.session().prediction()->plan();
  const auto gather = std::find_if(plan.instructions.begin(), plan.instructions.end(),
                                   [](const auto& each) { return each.kind == InstructionKind::AllGather; });
  const auto id = make_id<InstructionId>(static_cast<std::size_t>(gather - plan.instructions.begin()));
  ui.session().choose(id);
  ui.frames(2);
  ui.click("lessons", instruction_label(plan, id));
  ui.settle();
  CHECK(ui.shows("lessons", "That is right."));

  next(ui);  // a change: told
  ui.click("lessons", "Tell me");
  ui.frames(2);
  CHECK(ui.shows("lessons", "The answer:"));

  next(ui);  // a comparison
  REQUIRE(ui.session().baseline());
  CHECK(ui.session().left_baseline());
  CHECK(ui.session().document().title() == "tiny-b.yaml");
  CHECK(ui.session().selection().highlight().empty());
  CHECK_FALSE(ui.session().selection().visible_time());
  keep_lesson_picture(ui, "lesson-compare");

  next(ui);  // a run
  CHECK(ui.shows("lessons", "Train it now"));

  next(ui);  // a try: one edit, which can be undone
  const std::int64_t before = peak_of(ui);
  CHECK(ui.session().document().title() == "tiny-a.yaml");
  ui.click("lessons", "Try");
  ui.settle();
  CHECK(peak_of(ui) < before);
  keep_lesson_picture(ui, "lesson-try");
  ui.session().undo();
  ui.settle();
  CHECK(peak_of(ui) == before);

  next(ui);  // a reveal
  keep_lesson_picture(ui, "lesson-reveal");
  next(ui);  // the end
  CHECK_FALSE(ui.shows("lessons", forward(ui)));
  keep_lesson_picture(ui, "lesson-end");
  const RunStore store = RunStore::open(folder.path() / "runs.db", OpenMode::existing).value();
  const auto progress = store.lesson_progress().value();
  REQUIRE(progress_in(progress, "01-small") != nullptr);
  CHECK(progress_in(progress, "01-small")->finished > 0);
  CHECK(store.lesson_answers().value().size() == 5);

  ui.click("lessons", "Leave");
  ui.settle();
  CHECK(ui.shows("lessons", "##folder"));
  CHECK_FALSE(ui.session().baseline());
}

TEST_CASE("lessons: what a lesson runs is trained, and laid beside what was predicted") {
  if (!k_trains) return;
  const test::TemporaryFolder folder;
  Ui ui;
  ui.session().use_program(test::programs_folder() / "shardlab");
  ui.session().use_database(folder.path() / "runs.db");
  ui.session().selection().choose_lesson({test::write_small_lesson(folder.path()).string(), 9});
  ui.settle();
  ui.click("lessons", "Train it now");
  for (int i = 0; i < 12'000 && ui.shows("lessons", "Stop"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ui.frames();
  }
  ui.wait_for("lessons", "the run and its prediction");
  CHECK(ui.shows("lessons", "the run and its prediction"));
  CHECK_FALSE(ui.shows("lessons", "what does not hold"));
  CHECK(ui.session().selection().runs().size() == 1);
  for (const auto& file : fs::directory_iterator(folder.path() / "01-small"))
    CHECK_FALSE(file.path().filename().string().starts_with("."));
  keep_lesson_picture(ui, "lesson-run");
  next(ui);
  CHECK(ui.session().selection().runs().empty());
}

TEST_CASE("lessons: a run belongs to the lesson that began it, not to a step of that number") {
  if (!k_trains) return;
  const test::TemporaryFolder folder;
  const std::string other = test::write_small_lesson(folder.path(), "02-other").string();
  Ui ui;
  ui.session().use_program(test::programs_folder() / "shardlab");
  ui.session().use_database(folder.path() / "runs.db");
  ui.session().selection().choose_lesson({test::write_small_lesson(folder.path()).string(), 9});
  ui.settle();
  ui.click("lessons", "Train it now");
  ui.session().selection().choose_lesson({other, 9});
  ui.settle();
  for (int i = 0; i < 12'000 && ui.shows("lessons", "Stop"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ui.frames();
  }
  ui.settle();
  REQUIRE(ui.shows("lessons", "Train it now"));
  CHECK_FALSE(ui.shows("lessons", "the run and its prediction"));
}

TEST_CASE("lessons: what another lesson showed is not left beside one that begins") {
  const test::TemporaryFolder folder;
  const std::string other = test::write_small_lesson(folder.path(), "02-other").string();
  Ui ui;
  ui.session().use_database(folder.path() / "runs.db");
  ui.session().selection().choose_lesson({test::write_small_lesson(folder.path()).string(), 2});
  ui.settle();
  CHECK(ui.session().document().file().parent_path().filename() == "01-small");
  ui.shell().show_panel("compare");
  ui.settle();
  ui.session().selection().choose_lesson({other, 1});
  ui.settle();
  CHECK(ui.session().document().file().parent_path().filename() == "02-other");
  CHECK(ui.shows("memory", "Whole step"));
}

// A lesson of these steps over scenarios a, b and c.
fs::path write_steps(const fs::path& folder, const std::string& steps) {
  const fs::path lesson = test::write_small_lesson(folder, "03-steps");
  std::ofstream(lesson / "lesson.yaml")
      << "title: Steps\nminutes: 2\nable: see\nscenarios:\n  a: tiny.yaml\n"
         "  b: { file: tiny.yaml, set: { train.micro_batch: 4 } }\n"
         "  c: { file: tiny.yaml, set: { parallel.strategy: ddp } }\nsteps:\n" +
             steps;
  return lesson;
}

void begin(Ui& ui, const test::TemporaryFolder& folder, const std::string& steps) {
  ui.session().use_database(folder.path() / "runs.db");
  ui.session().selection().choose_lesson({write_steps(folder.path(), steps).string(), 1});
  ui.settle();
}

TEST_CASE("lessons: all scenarios of a comparison have a column, called as the lesson calls them") {
  const test::TemporaryFolder folder;
  Ui ui;
  begin(ui, folder, "  - look: { panel: compare, scenario: [a, b, c], say: Three. }\n  - text: Two ranks.\n");
  ui.wait_for("compare", "a");
  for (const char* const scenario : {"a", "b", "c"}) CHECK(ui.shows("compare", scenario));
  CHECK(ui.session().document().title() == "tiny-c.yaml");
  keep_lesson_picture(ui, "lesson-three");
  ui.click("lessons", "b##compared");
  ui.settle();
  CHECK(ui.session().document().title() == "tiny-b.yaml");
  for (const char* const scenario : {"a", "b", "c"}) CHECK(ui.shows("compare", scenario));
  next(ui);
  ui.click("lessons", "Leave");
  ui.settle();
  CHECK_FALSE(ui.shows("compare", "c"));
}

TEST_CASE("lessons: a panel that lies where the lesson does stands beside it while it is spoken of") {
  const test::TemporaryFolder folder;
  Ui ui;
  begin(ui, folder,
        "  - look: { panel: compare, scenario: [b, a], say: Two. }\n"
        "  - look: { panel: fit, scenario: a, say: How full. }\n  - text: Two ranks.\n");
  ui.wait_for("compare", "b");
  next(ui);  // nothing has to be opened: all of it happens at once
  ui.frames(3);
  CHECK(ui.shows("memory", "Whole step"));
  CHECK(ui.shows("lessons", "Next"));
  CHECK(ui.shows("fit", "Set as baseline"));
  keep_lesson_picture(ui, "lesson-fit");
  next(ui);
  ui.frames(3);
  CHECK(ui.shows("lessons", "End"));
  CHECK_FALSE(ui.shows("fit", "Set as baseline"));
  CHECK(ui.shows("scenario", "Form"));
}

TEST_CASE("lessons: a text, a question and its answer show the scenario that they are about") {
  const test::TemporaryFolder folder;
  Ui ui;
  begin(ui, folder,
        "  - text: Two ranks.\n    show: { panel: memory, scenario: b, instruction: peak }\n"
        "  - ask:\n      question: How many?\n      number: ranks(c)\n      tolerance: 1%\n"
        "      wrong: [{ value: ranks(c) * 2, thought: Twice., source: 'made up, https://example.org/1' }]\n"
        "    show: { panel: plan, scenario: c }\n"
        "  - reveal: Two.\n    show: { panel: compare, scenario: [a, c] }\n");
  REQUIRE(ui.session().document().title() == "tiny-b.yaml");
  CHECK(ui.session().chosen() == ui.session().prediction()->summary().memory->peak_instruction);
  CHECK_FALSE(ui.shows("lessons", "As text"));
  keep_lesson_picture(ui, "lesson-text-shows");
  next(ui);
  CHECK(ui.session().document().title() == "tiny-c.yaml");
  answer(ui, "2");
  next(ui);
  ui.wait_for("compare", "a");
  CHECK(ui.shows("compare", "c"));
}

TEST_CASE("lessons: one that was left is gone on with") {
  const test::TemporaryFolder folder;
  const fs::path lesson = test::write_small_lesson(folder.path());
  Ui ui;
  ui.session().use_database(folder.path() / "runs.db");
  open_lesson(ui, lesson);
  next(ui);
  next(ui);
  ui.click("lessons", "Back");
  ui.settle();
  ui.click("lessons", "Leave");
  ui.settle();
  open_lesson(ui, lesson);
  CHECK(ui.shows("lessons", "As text"));  // the look again
}

TEST_CASE("lessons: a scenario with edits that are not saved is not dropped unasked") {
  const test::TemporaryFolder folder;
  Ui ui;
  ui.open(small_scenario());
  ui.session().set("train.micro_batch", "3");
  ui.settle();
  open_lesson(ui, test::write_small_lesson(folder.path()));
  next(ui);
  CHECK(ui.session().document().title() == "test.yaml");
  ui.click("lessons", "Open without saving");
  ui.settle();
  CHECK(ui.session().document().title() == "tiny-a.yaml");
}

TEST_CASE("lessons: the course that ships is listed, and one of it opens") {
  Ui ui("lessons", {560, 900});
  ui.settle();
  ui.wait_for("lessons", "Begin");
  keep_lesson_picture(ui, "lessons-list");
  ui.click("lessons", "Begin");
  ui.settle();
  CHECK(ui.shows("lessons", "Leave"));
  keep_lesson_picture(ui, "lessons-first");
}

TEST_CASE("lessons: behind the end of one of the course comes the next, behind one's own none") {
  const test::TemporaryFolder folder;
  const fs::path course = test::source_folder() / "scenarios/lessons";
  Ui ui;
  ui.session().use_database(folder.path() / "runs.db");
  ui.session().selection().choose_lesson({(course / "01-sixteen-bytes").string(), 99});
  ui.settle();
  CHECK_FALSE(ui.shows("lessons", "Next lesson"));
  next(ui);
  keep_lesson_picture(ui, "lesson-next");
  ui.click("lessons", "Next lesson");
  ui.settle();
  CHECK(ui.session().document().file().parent_path().filename() == "02-data-parallel");
  CHECK(ui.item("lessons", "Back").disabled);
  ui.session().selection().choose_lesson({test::write_small_lesson(folder.path()).string(), 99});
  ui.settle();
  next(ui);
  CHECK_FALSE(ui.shows("lessons", "Next lesson"));
  CHECK(ui.shows("lessons", "Leave"));
}

}  // namespace shardlab::gui
