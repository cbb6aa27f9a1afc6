#include "tests/catch.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {

TEST_CASE("the window draws without a scenario") {
  Ui ui;
  CHECK(ui.shows("", "File"));
  CHECK_FALSE(ui.session().prediction());
}

TEST_CASE("a scenario is predicted and drawn") {
  Ui ui;
  ui.open(small_scenario());
  REQUIRE(ui.session().prediction());
  CHECK_FALSE(ui.session().stale());
  CHECK(ui.session().messages().all().empty());
}

TEST_CASE("the menu changes the theme") {
  Ui ui;
  CHECK(ui.shell().theme().kind == ThemeKind::dark);
  ui.click("", "View");
  ui.click("", "Theme: light");
  CHECK(ui.shell().theme().kind == ThemeKind::light);
}

TEST_CASE("the palette finds a command by a part of its name, and Enter runs it") {
  Ui ui;
  ui.press(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
  ui.type("light");
  ui.press(ImGuiKey_Enter);
  CHECK(ui.shell().theme().kind == ThemeKind::light);
}

TEST_CASE("undo and redo from the keyboard") {
  Ui ui;
  ui.open(small_scenario());
  ui.session().set("train.micro_batch", "8");
  const std::string edited = ui.session().document().text();
  ui.frames(2);
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);
  CHECK(ui.session().document().text() == small_scenario());
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Y);
  CHECK(ui.session().document().text() == edited);
}

TEST_CASE("quitting with unsaved edits asks") {
  Ui ui;
  ui.open(small_scenario());
  ui.session().set("train.micro_batch", "8");
  ui.shell().request_quit();
  ui.frames(3);
  CHECK_FALSE(ui.shell().should_quit());
  ui.click("", "Quit without saving");
  CHECK(ui.shell().should_quit());
}

TEST_CASE("dropping a file that is no scenario gives a message, and keeps the scenario") {
  Ui ui;
  ui.open(small_scenario());
  ui.shell().drop_files({"/nowhere/at-all.yaml"});
  ui.frames(2);
  REQUIRE(ui.session().messages().all().size() == 1);
  CHECK(ui.session().messages().all().front().kind == MessageKind::error);
  CHECK(ui.session().document().text() == small_scenario());
}

}  // namespace shardlab::gui
