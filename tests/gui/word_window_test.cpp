// Words of the glossary in the window: a click in a lesson or a message opens what they mean, and what shows
// it.
#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"
#include "tests/small_lesson.h"

namespace shardlab::gui {
namespace {

std::string open_word(Ui& ui) {
  const view::WordCard* const card = ui.session().words().card();
  return card == nullptr ? "" : card->word->names.front();
}

}  // namespace

TEST_CASE("words: one in a lesson opens its meaning and the plan that shows it") {
  const test::TemporaryFolder folder;
  Ui ui;
  ui.session().use_database(folder.path() / "runs.db");
  ui.session().selection().choose_lesson({test::write_small_lesson(folder.path()).string(), 1});
  ui.settle();
  CHECK_FALSE(ui.shows("word", "##another"));
  ui.click("lessons", "ranks##word");
  ui.settle();
  CHECK(open_word(ui) == "rank");
  CHECK(ui.shows("word", "the plan that shows it"));
}

TEST_CASE("words: from one to another, back, and away") {
  Ui ui;
  ui.press(ImGuiKey_F1);
  ui.frames(2);
  REQUIRE(ui.shows("word", "##another"));
  CHECK(open_word(ui).empty());
  ui.click("word", "shard");
  ui.settle();
  CHECK(open_word(ui) == "shard");
  CHECK(ui.item("word", "Back").disabled);
  ui.click("word", "ranks##word");
  ui.settle();
  CHECK(open_word(ui) == "rank");
  ui.click("word", "Back");
  ui.settle();
  CHECK(open_word(ui) == "shard");
  ui.enter("word", "##another", "mfu");
  ui.settle();
  CHECK(open_word(ui) == "MFU");
  ui.enter("word", "##another", "peek");
  ui.frames(2);
  CHECK(open_word(ui) == "MFU");
  CHECK(ui.shows("word", "no such word"));
  ui.press(ImGuiKey_Escape);
  ui.frames(2);
  CHECK_FALSE(ui.shows("word", "##another"));
}

TEST_CASE("words: F1 opens the one that the mouse is over, in a heading and in a cell") {
  Ui ui;
  ui.open(large_scenario());
  ui.settle();
  ui.shell().show_panel("fit");
  const auto opened_over = [&](std::string_view panel, std::string_view item) {
    const ProbedItem at = ui.item(panel, item);
    ui.move_to({at.min.x + 40, centre_of(at).y});
    ui.frames(2);
    ui.press(ImGuiKey_F1);
    ui.settle();
    const std::string word = open_word(ui);
    ui.press(ImGuiKey_Escape);
    ui.frames(2);
    return word;
  };
  CHECK(opened_over("fit", "class") == "class");
  CHECK(opened_over("fit", "optimizer state") == "optimizer");
  CHECK(opened_over("fit", "workspace") == "workspace");
}

TEST_CASE("words: a lesson about one is a click away") {
  const test::TemporaryFolder folder;
  Ui ui;
  ui.session().use_database(folder.path() / "runs.db");
  REQUIRE_OK(ui.session().words().open("peak"));
  ui.settle();
  ui.click("word", "Lesson 01: Where the memory goes");
  ui.settle();
  CHECK(ui.shows("lessons", "1 of 8"));
}

TEST_CASE("words: those of a message open as well") {
  Ui ui;
  ui.session().messages().add(
      Error{ErrorKind::bad_input, "parallel.strategy", "ddp does not shard", "an all-gather would be needed"},
      "strategy", ui.session().now());
  ui.frames(3);
  ui.click("", "all-gather##word");
  ui.settle();
  CHECK(open_word(ui) == "gather");
}

TEST_CASE("words: those of a finding and of an answer to why open as well") {
  Ui ui;
  ui.open(large_scenario());
  ui.session().set("train.micro_batch", "16");
  ui.settle();
  ui.shell().show_panel("doctor");
  ui.wait_for("doctor", "activations##word");
  ui.click("doctor", "activations##word");
  CHECK(open_word(ui) == "saved tensor");
  ui.press(ImGuiKey_Escape);
  ui.shell().show_panel("fit");
  ui.frames(4);
  ui.click("fit", "why?##step_time");
  ui.click("", "rank##word");
  CHECK(open_word(ui) == "rank");
}

}  // namespace shardlab::gui
