#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

namespace fs = std::filesystem;
using test::contains_text;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The 8B model, whose reduction in 32 bits is what accelerate's file cannot say.
fs::path write_scenario_file(const fs::path& folder) {
  std::ofstream(folder / "eight.yaml") << "name: eight\n"
                                          "model: {config: llama-3.2-1b, sequence_length: 512}\n"
                                          "cluster: {node: hgx-h100, nodes: 1}\nparallel: {strategy: fsdp2}\n"
                                          "precision: {param: bfloat16, reduce: float32}\n"
                                          "train: {micro_batch: 2, accumulation: 2}\n";
  return folder / "eight.yaml";
}

}  // namespace

TEST_CASE("a scenario is exported: the loss accepted, written, compared with what stands there") {
  const test::TemporaryFolder folder;
  Ui ui("export", {1100, 900});
  REQUIRE(ui.session().open(write_scenario_file(folder.path())));
  ui.settle();
  ui.wait_for("export", "eight.accelerate.yaml");
  const fs::path file = folder.path() / "eight.accelerate.yaml";
  ui.click("export", "Write");  // the loss is not accepted
  ui.settle();
  CHECK_FALSE(fs::exists(file));
  ui.click("export", "precision.reduce");
  ui.click("export", "Write");
  ui.wait_for("export", "Overwrite");
  REQUIRE(fs::exists(file));
  const std::string written = text_of(file);
  CHECK_THAT(written, contains_text("fsdp_version: 2"));

  // An edit of the scenario is followed, and laid beside what stands there.
  REQUIRE(ui.session().set("train.accumulation", "4"));
  ui.settle();
  ui.wait_for("export", "Difference");
  CHECK(text_of(file) == written);
  ui.click("export", "Overwrite");
  for (int i = 0; i < 400 && ui.shows("export", "Difference"); ++i) ui.settle();
  CHECK_THAT(text_of(file), contains_text("gradient_accumulation_steps=4"));
}

TEST_CASE("another target and another folder are chosen, and a target that cannot says why") {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "inner");
  Ui ui("export", {1100, 900});
  REQUIRE(ui.session().open(write_scenario_file(folder.path())));
  ui.settle();
  ui.wait_for("export", "##target");
  ui.click("export", "##target");
  ui.frames(2);
  const auto torchrun = ui.find("", "torchrun 2.11");
  INFO(ui.items_of(""));
  REQUIRE(torchrun);
  ui.click_at(centre_of(*torchrun));
  ui.settle();
  ui.wait_for("export", "eight.torchrun.sh");
  ui.click("export", "Folder...");
  ui.frames(3);
  CHECK_FALSE(ui.shows("file dialog", "eight.yaml"));  // folders alone
  ui.click("file dialog", "inner/");
  ui.click("file dialog", "Choose");
  ui.settle();
  if (ui.shows("export", "precision.reduce")) ui.click("export", "precision.reduce");
  ui.click("export", "Write");
  ui.wait_for("export", "Overwrite");
  CHECK(fs::exists(folder.path() / "inner" / "eight.torchrun.sh"));
  CHECK_FALSE(fs::exists(folder.path() / "eight.torchrun.sh"));
}

TEST_CASE("a scenario with a mistake shows it, and mended its files") {
  Ui ui("export", {900, 700});
  ui.frames(2);
  ui.open(large_scenario());
  ui.settle();
  REQUIRE(ui.shows("export", "Write"));
  REQUIRE(ui.session().set("train.micro_batch", "0"));
  ui.settle();
  CHECK_FALSE(ui.shows("export", "Write"));
  ui.session().undo();
  ui.settle();
  CHECK(ui.shows("export", "Write"));
}

}  // namespace shardlab::gui
