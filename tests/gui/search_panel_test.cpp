#include <fstream>

#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

// GPT-2 with two small layers, so many combinations that a search takes a while.
std::filesystem::path write_search(const std::filesystem::path& folder) {
  std::ofstream(folder / "s.yaml") << "name: small\n"
                                      "model: {config: gpt2, sequence_length: 64, overrides: {n_layer: 2, "
                                      "n_embd: 64, n_head: 2, vocab_size: 512}}\n"
                                      "cluster: {node: hgx-h100, nodes: 1}\nparallel: {strategy: "
                                      "fsdp2}\ntrain: {micro_batch: 2, accumulation: 2}\n";
  std::ofstream(folder / "q.yaml")
      << "scenario: s.yaml\nkeep: {global_batch: 7680}\ntrain: {tokens: 1G}\nneed: {gpus: 1000}\n"
         "offers: [{node: hgx-h100, nodes: {most: 16}, price: 90, date: '2026-01-01', source: a test}]\n"
         "vary:\n  train.micro_batch: [1, 2, 3, 4, 5, 6, 8, 10]\n  activation.checkpoint: [none, full]\n"
         "  parallel: [{strategy: fsdp2}, {strategy: fsdp1}, {strategy: ddp}]\n";
  return folder / "q.yaml";
}

}  // namespace

TEST_CASE("a search is begun, stopped, gone on with, filtered, and a result opened by a click") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = write_search(folder.path());
  Ui ui("search", {1100, 800});
  ui.frames(2);
  ui.enter("search", "##search file", file.string());
  ui.click("search", "Search");
  ui.wait_for("search", "Stop");
  ui.click("search", "Stop");
  ui.wait_for("search", "Resume");  // ends with the best so far
  ui.click("search", "Resume");
  for (int i = 0; i < 60 && !ui.shows("search", "Search"); ++i)
    ui.wait_for("search", ui.shows("search", "Stop") ? "Stop" : "Search");
  ui.wait_for("search", "Table");
  CHECK(std::filesystem::exists(file.string() + ".results"));
  ui.enter("search", "##filter", "fsdp1");
  ui.frames(2);
  ui.click("search", "Scatter");
  ui.frames(3);
  ui.click("search", "Table");
  ui.frames(2);
  CHECK(ui.session().documents_opened() == 0);
  ui.click_at({300, ui.item("search", "only what satisfies").max.y + 95});  // a row of the table
  ui.settle();
  CHECK(ui.session().documents_opened() == 1);
  CHECK(ui.session().document().text().find("fsdp1") != std::string::npos);
  CHECK(ui.session().document().file().filename() == "s-found.yaml");
  CHECK(ui.session().prediction());
  // Edits that are not saved stay until somebody says that they may go.
  REQUIRE(ui.session().set("train.seed", "7"));
  ui.settle();
  ui.click_at({300, ui.item("search", "only what satisfies").max.y + 95});
  ui.wait_for("search", "Open without saving");
  CHECK(ui.session().documents_opened() == 1);
  ui.click("search", "Keep the changes");
  ui.frames(2);
  CHECK_FALSE(ui.shows("search", "Open without saving"));
  ui.click_at({300, ui.item("search", "only what satisfies").max.y + 95});
  ui.wait_for("search", "Open without saving");
  ui.click("search", "Open without saving");
  ui.settle();
  CHECK(ui.session().documents_opened() == 2);
  CHECK(ui.session().document().text().find("seed: 7") == std::string::npos);
}

TEST_CASE("a search file with a mistake is told with its place") {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = write_search(folder.path());
  std::ofstream(file) << "scenario: s.yaml\nvary: {train.micro_bach: [1]}\n";
  Ui ui("search", {1100, 800});
  ui.frames(2);
  ui.enter("search", "##search file", file.string());
  ui.click("search", "Search");
  for (int i = 0; i < 200 && ui.shows("search", "Stop"); ++i) ui.frames(1);
  ui.wait_for("search", "Search");
  CHECK(ui.session().documents_opened() == 0);
}

}  // namespace shardlab::gui
