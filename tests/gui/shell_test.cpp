#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "gui/shell/panel.h"
#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

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

TEST_CASE("every panel has a name, a title and a line of help, and no two share keys") {
  std::set<std::string> ids;
  std::set<ImGuiKeyChord> keys;
  for (const auto& panel : make_panels()) {
    const PanelInfo info = panel->info();
    INFO(info.id);
    CHECK_FALSE(info.title.empty());
    CHECK_FALSE(info.help.empty());
    CHECK(ids.insert(info.id).second);
    if (info.shortcut != 0) CHECK(keys.insert(info.shortcut).second);
  }
  CHECK(ids.size() >= 10);
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

TEST_CASE("opening another scenario with unsaved edits asks, and so does dropping one") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "start.yaml") << small_scenario();
  std::ofstream(folder.path() / "other.yaml") << large_scenario();
  const std::string other = (folder.path() / "other.yaml").string();
  Ui ui;
  REQUIRE(ui.session().open(folder.path() / "start.yaml"));
  ui.session().set("train.micro_batch", "8");
  const std::string edited = ui.session().document().text();
  ui.settle();
  ui.shell().drop_files({other});
  ui.frames(3);
  ui.click("", "Stay");
  CHECK(ui.session().document().text() == edited);
  CHECK_FALSE(ui.shows("", "Stay"));
  ui.shell().drop_files({other});
  ui.frames(3);
  ui.click("", "Save and open");
  CHECK(ui.session().document().text() == large_scenario());
  std::ifstream saved(folder.path() / "start.yaml");
  CHECK(std::string(std::istreambuf_iterator<char>(saved), {}) == edited);
  ui.shell().drop_files({(folder.path() / "start.yaml").string()});  // nothing to lose: at once
  CHECK(ui.session().document().text() == edited);
  ui.session().set("train.micro_batch", "4");
  ui.settle();
  ui.press(ImGuiMod_Ctrl | ImGuiKey_O);
  ui.double_click("file dialog", "other.yaml");
  CHECK(ui.session().document().file().filename() == "start.yaml");
  ui.click("", "Open without saving");
  CHECK(ui.session().document().file().filename() == "other.yaml");
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

TEST_CASE("the panels of the default layout are where they belong, the first of each area in front") {
  Ui ui;
  ui.open(small_scenario());
  ui.frames(4);
  const ProbedItem scenario = ui.item("scenario", "Scenario###scenario");
  CHECK(scenario.max.x < 1440 * 0.35F);
  CHECK(ui.shows("scenario", "##search settings"));
  CHECK(ui.shows("fit", "why?##step_time"));
  CHECK_FALSE(ui.shows("models", "tiny-llama"));  // behind another tab
}

TEST_CASE("a kept layout comes back with the panels in front that were there") {
  std::string layout;
  {
    Ui ui;
    ui.open(small_scenario());
    ui.shell().show_panel("plan");
    ui.frames(4);
    layout = ImGui::SaveIniSettingsToMemory();
  }
  Session session;
  session.preferences().layout = layout;
  session.open_text(small_scenario(), std::string(SHARDLAB_TEST_SOURCE) + "/scenarios/first/test.yaml");
  session.settle();
  Headless headless({1440, 900}, 1);
  Shell shell(session, make_panels(), headless.fonts(),
              {.only_panel = {}, .remembers = false, .preferences_file = {}});
  headless.show(shell);
  ItemProbe probe;
  for (int i = 0; i < 6; ++i) {
    probe.begin_frame();
    headless.frame(session);
  }
  std::set<std::string> drawn;
  for (const ProbedItem& item : probe.items())
    if (item.visible && item.label != item.window && !item.label.empty())
      drawn.insert(item.window.substr(0, item.window.find('/')));
  CHECK(drawn.contains("Plan###plan"));
  CHECK_FALSE(drawn.contains("Export###export"));
  CHECK(drawn.contains("Fit###fit"));
}

TEST_CASE("a panel is closed, brought back from the menu, and the layout is reset") {
  Ui ui;
  ui.open(small_scenario());
  ui.shell().show_panel("models");
  ui.frames(4);
  ui.wait_for("models", "tiny-llama");
  CHECK(ui.shows("models", "tiny-llama"));
  CHECK_FALSE(ui.shows("fit", "why?##step_time"));
  ui.click("", "View");
  ui.click("", "Reset the layout");
  ui.frames(4);
  CHECK(ui.shows("fit", "why?##step_time"));
}

TEST_CASE("another scale, theme and size while it runs") {
  Ui ui;
  ui.open(small_scenario());
  for (const double scale : {2.0, 0.75, 1.5}) {
    ui.session().preferences().scale = scale;
    ui.frames(3);
    CHECK(ui.shell().theme().scale == Approx(scale));
  }
  for (const ImVec2 size : {ImVec2{200, 120}, ImVec2{1, 1}, ImVec2{2560, 1440}}) {
    ui.headless().resize(size);
    ui.frames(3);
  }
  CHECK(ui.shows("", "File"));
}

TEST_CASE("moved to a monitor of another scale everything grows with it, unless the user chose a scale") {
  Ui ui;
  ui.open(small_scenario());
  const ProbedItem before = ui.item("fit", "why?##step_time");
  for (const float scale : {2.0F, 1.25F, 3.0F, 1.0F}) {
    ui.headless().move_to_monitor(scale);
    ui.frames(3);
    CHECK(ui.shell().theme().scale == Approx(scale));
    CHECK(ImGui::GetStyle().WindowPadding.x == Approx(12 * scale).margin(1));  // scaled once, not each time
  }
  const ProbedItem again = ui.item("fit", "why?##step_time");
  CHECK(again.max.y - again.min.y == before.max.y - before.min.y);
  ui.session().preferences().scale = 1.5;
  ui.headless().move_to_monitor(2);
  ui.frames(3);
  CHECK(ui.shell().theme().scale == Approx(1.5));
}

TEST_CASE("the same frame gives the same picture, and it is not blank") {
  const auto draw = [] {
    Ui ui("fit", {500, 400});
    ui.open(small_scenario());
    return ui.headless().picture();
  };
  const Picture first = draw(), second = draw();
  CHECK((first.pixels == second.pixels));
  CHECK(std::count(first.pixels.begin(), first.pixels.end(), first.pixels.front()) < 200'000);
}

TEST_CASE("the open dialog lists files of any kind, enters folders and opens what is chosen") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "inner");
  std::ofstream(folder.path() / "inner" / "one.yaml") << small_scenario();
  std::ofstream(folder.path() / "notes.txt") << "no scenario";
  std::ofstream(folder.path() / "start.yaml") << small_scenario();
  Ui ui;
  REQUIRE(ui.session().open(folder.path() / "start.yaml"));
  ui.settle();
  ui.press(ImGuiMod_Ctrl | ImGuiKey_O);
  CHECK(ui.shows("file dialog", "notes.txt"));
  ui.click("file dialog", "inner/");
  ui.double_click("file dialog", "one.yaml");
  CHECK(ui.session().document().file().filename() == "one.yaml");
}

TEST_CASE("what the open dialog opens its content says, as of a dropped file") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "start.yaml") << large_scenario();
  std::ofstream(folder.path() / "job.log") << "RuntimeError: CUDA error: out of memory\n";
  std::filesystem::copy_file(test::data_file("imports/good/fsdp2.yaml"), folder.path() / "accelerate.yaml");
  Ui ui;
  REQUIRE(ui.session().open(folder.path() / "start.yaml"));
  ui.settle();
  ui.press(ImGuiMod_Ctrl | ImGuiKey_O);
  ui.double_click("file dialog", "job.log");
  CHECK(ui.session().document().file().filename() == "start.yaml");
  CHECK(ui.session().doctor().logs_given() == 1);
  ui.press(ImGuiMod_Ctrl | ImGuiKey_O);
  ui.double_click("file dialog", "accelerate.yaml");
  ui.settle();
  CHECK_THAT(ui.session().document().text(), test::contains_text("# imported by shardlab from"));
}

TEST_CASE("saving under a new name, by the dialog") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "start.yaml") << small_scenario();
  Ui ui;
  REQUIRE(ui.session().open(folder.path() / "start.yaml"));
  ui.session().set("train.micro_batch", "8");
  ui.settle();
  ui.press(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S);
  ui.press(ImGuiMod_Ctrl | ImGuiKey_A);
  ui.type("other.yaml");
  ui.press(ImGuiKey_Enter);
  CHECK(std::filesystem::exists(folder.path() / "other.yaml"));
  CHECK_FALSE(ui.session().document().changed());
}

}  // namespace shardlab::gui
