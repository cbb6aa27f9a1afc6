#include <filesystem>
#include <fstream>

#include "tests/catch.h"
#include "tests/gui/ui.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

using namespace test;

const char* const k_log =
    "step 1 loss 5.1\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 388.00 MiB. GPU 0 has a total "
    "capacity of 9.68 GiB of which 95.75 MiB is free. Including non-PyTorch memory, this process has 9.54 "
    "GiB "
    "memory in use. Of the allocated memory 6.61 GiB is allocated by PyTorch, and 2.57 GiB is reserved by "
    "PyTorch but unallocated.\n";

std::string does_not_fit() {
  return "model: {config: llama-3-8b, sequence_length: 4096, overrides: {num_hidden_layers: 8}}\n"
         "cluster: {node: hgx-h100}\n"
         "parallel: {strategy: fsdp2}\n"
         "precision: {param: bfloat16, reduce: float32}\n"
         "train: {micro_batch: 32}\n"
         "activation: {checkpoint: full}\n";
}

}  // namespace

TEST_CASE("a finding's evidence leads to the setting and to the instruction, its fix is one edit") {
  Ui ui({}, {1440, 1600});
  ui.shell().show_panel("doctor");
  ui.open(does_not_fit());
  ui.settle();
  ui.wait_for("doctor", "Apply");
  const std::uint64_t changes = ui.session().selection().setting_changes();
  ui.click("doctor", "train.micro_batch: 32");
  CHECK(ui.session().selection().setting() == "train.micro_batch");
  CHECK(ui.session().selection().setting_changes() == changes + 1);
  const InstructionId peak = ui.session().prediction()->summary().memory->peak_instruction;
  ui.click("doctor", ui.session().prediction()->run->words().instruction(peak));
  CHECK(ui.session().chosen() == peak);

  const std::string before = ui.session().document().text();
  ui.click("doctor", "Apply");
  CHECK(ui.session().document().text() != before);
  ui.settle();
  CHECK(ui.session().prediction()->summary().fits != Fit::no);
  ui.click("doctor", "Undo");
  ui.settle();
  CHECK(ui.session().document().text() == before);
  CHECK_FALSE(ui.shows("doctor", "Undo"));
  ui.item("doctor", "Apply");
}

TEST_CASE("a log is pasted, its line is shown where it stands, and all are cleared") {
  Ui ui("doctor", {800, 900});
  ui.open(small_scenario());
  CHECK_FALSE(ui.shows("doctor", "pasted log"));
  ImGui::SetClipboardText(k_log);
  ui.click("doctor", "Paste a log");
  ui.wait_for("doctor", "pasted log");
  ui.wait_for("doctor", "line 2, rank 3");
  ui.item("doctor", "step 1 loss 5.1");  // the lines around
  ui.click("doctor", "line 2, rank 3");
  ui.frames(2);
  CHECK_FALSE(ui.shows("doctor", "step 1 loss 5.1"));
  ui.click("doctor", "line 2, rank 3");
  ui.frames(2);
  ui.item("doctor", "step 1 loss 5.1");
  ui.click("doctor", "Scenario");
  ui.click("doctor", "Clear");
  ui.frames(2);
  CHECK_FALSE(ui.shows("doctor", "pasted log"));
}

TEST_CASE("a dropped log brings the panel to the front") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "job.log";
  std::ofstream(file) << k_log;
  Ui ui;
  ui.open(small_scenario());
  CHECK_FALSE(ui.shows("doctor", "Paste a log"));
  ui.shell().drop_files({file.string()});
  ui.wait_for("doctor", "job.log");
  ui.item("doctor", "line 2, rank 3");
}

TEST_CASE("mistakes and what is well are told too, in narrow windows") {
  Ui ui("doctor", {320, 900});
  ui.frames(2);
  ui.open("model: {config: llama-3-8b}\ncluster: {node: hgx-h100}\ntrain: {micro_batch: 0}\n");
  ui.settle();
  REQUIRE(ui.session().doctor().scenario());
  CHECK_FALSE(ui.session().doctor().scenario()->examination.findings.empty());
  ui.item("doctor", "train.micro_batch");
  const Picture picture = ui.headless().picture();
  std::size_t red = 0;
  for (const ImU32 pixel : picture.pixels) red += pixel == ui.shell().theme().bad ? 1 : 0;
  CHECK(red > 20);
}

}  // namespace shardlab::gui
