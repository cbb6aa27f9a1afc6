// Configurations of other tools dropped on the window.
#include <filesystem>
#include <thread>

#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

namespace shardlab::gui {

using test::contains_text;

TEST_CASE("files that are dropped together become the scenario that is shown, and Ctrl+Z goes back") {
  Ui ui;
  ui.open(large_scenario());
  const std::filesystem::path folder = test::data_file("imports/good/accelerate_and_deepspeed");
  ui.shell().drop_files(
      {(folder / "run.sh").string(), (folder / "accelerate.yaml").string(), (folder / "ds.json").string()});
  ui.settle();
  INFO(ui.session().document().text());
  CHECK_THAT(ui.session().document().text(), contains_text("strategy: zero"));
  CHECK(ui.session().document().title() == "untitled");
  CHECK(ui.session().prediction());
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);
  CHECK(ui.session().document().text() == large_scenario());
  CHECK(ui.session().document().title() == "test.yaml");
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Y);
  CHECK(ui.session().document().title() == "untitled");
}

TEST_CASE("edits that are not saved are asked about before a configuration takes their place") {
  Ui ui;
  ui.open(large_scenario());
  ui.session().set("train.micro_batch", "2");
  ui.settle();
  const std::string edited = ui.session().document().text();
  ui.shell().drop_files({test::data_file("imports/good/fsdp2.yaml").string()});
  ui.frames(3);
  ui.click("", "Stay");
  ui.settle();
  CHECK(ui.session().document().text() == edited);
  ui.shell().drop_files({test::data_file("imports/good/fsdp2.yaml").string()});
  ui.frames(3);
  ui.click("", "Open without saving");
  ui.settle();
  CHECK(ui.session().document().text() != edited);
  CHECK_THAT(ui.session().document().text(), contains_text("micro_batch: 2"));
}

}  // namespace shardlab::gui
