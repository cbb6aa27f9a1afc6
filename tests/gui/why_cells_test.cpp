// Every number answers why: a right click or `?` on a cell of any table, a place in a plot, a module.
#include "tests/catch.h"
#include "tests/gui/stored_prediction.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {
using namespace test;
namespace {

ImVec2 cell_at(Ui& ui, const char* panel, const char* row, const char* column) {
  return {centre_of(ui.item(panel, column)).x, centre_of(ui.item(panel, row)).y};
}

// What the pop-up tells, as it is copied.
std::string told(Ui& ui) {
  ImGui::SetClipboardText("");
  ui.frames(4);  // a pop-up finds its size in several
  REQUIRE(ui.shows("", "Copy the answer"));
  ui.click("", "Copy the answer");
  const std::string text = ImGui::GetClipboardText();
  ui.press(ImGuiKey_Escape);
  return text;
}

std::string asked(Ui& ui, const char* panel, const char* row, const char* column) {
  ui.click_at(cell_at(ui, panel, row, column), ImGuiMouseButton_Right);
  return told(ui);
}

}  // namespace

TEST_CASE("runs: a right click or ? on a number says why, on a text only offers the table") {
  const StoredPrediction stored;
  Ui ui("runs");
  ui.session().use_database(stored.file());
  ui.settle();
  const std::string why = asked(ui, "runs", "r1", "step time");
  CHECK_THAT(why, contains_text("r1: step time"));
  CHECK_THAT(why, contains_text("source: the summary of r1"));
  ui.move_to(cell_at(ui, "runs", "r2", "peak"));
  ui.type("?");
  CHECK_THAT(told(ui), contains_text("r2: peak"));
  ui.click_at(cell_at(ui, "runs", "r1", "strategy"), ImGuiMouseButton_Right);
  CHECK_FALSE(ui.shows("", "Copy the answer"));
  CHECK(ui.shows("", "Copy the table as CSV"));
}

TEST_CASE("a question mark typed into a field asks nothing") {
  const StoredPrediction stored;
  Ui ui("runs");
  ui.session().use_database(stored.file());
  ui.settle();
  ui.click("runs", "##filter");
  ui.move_to(cell_at(ui, "runs", "r1", "step time"));
  ui.type("?");
  CHECK_FALSE(ui.shows("", "Copy the answer"));
}

TEST_CASE("compare: a figure names its steps, a difference its two figures") {
  const StoredPrediction stored;
  Ui ui("compare");
  ui.session().use_database(stored.file());
  ui.open(small_scenario());
  ui.session().selection().choose_runs({RunId{2}});
  ui.settle();
  CHECK_THAT(asked(ui, "compare", "step time", "difference"), contains_text("r2"));
  CHECK_THAT(asked(ui, "compare", "peak allocated", "tiny-llama fsdp2, predicted"),
             contains_text("highest in"));
  ui.click("compare", "Kinds");
  CHECK_THAT(asked(ui, "compare", "Forward", "tiny-llama fsdp2, predicted"), contains_text("added up"));
}

TEST_CASE("plan: the memory after an instruction is what it allocates and frees") {
  Ui ui("plan", {1100, 900});
  ui.open(small_scenario());
  CHECK_THAT(asked(ui, "plan", "2", "live after"), contains_text("before it"));
}

TEST_CASE("fit: a share and what it is of") {
  Ui fit("fit", {700, 900});
  fit.open(large_scenario());
  CHECK_THAT(asked(fit, "fit", "optimizer state", "share"), contains_text("divided by"));
}

TEST_CASE("memory: the height of the curve and the size of a buffer") {
  Ui ui("memory");
  ui.open(small_scenario());
  const ProbedItem plot = ui.item("memory", "memory of tiny-llama fsdp2, predicted");
  ui.click_at({(plot.min.x + plot.max.x) / 2, (plot.min.y + plot.max.y) / 2}, ImGuiMouseButton_Right);
  CHECK_THAT(told(ui), contains_text("by class, added up"));
}

TEST_CASE("hardware: who says so") {
  Ui ui("hardware", {900, 800});
  ui.wait_for("hardware", "A10");
  CHECK_THAT(asked(ui, "hardware", "A10", "bandwidth"), contains_text("A10.yaml: memory_bandwidth"));
}

TEST_CASE("models: parameters by module") {
  Ui ui("models", {900, 800});
  ui.wait_for("models", "gpt2");
  CHECK_THAT(asked(ui, "models", "gpt2", "parameters"), contains_text("config.json"));
  ui.click("models", "gpt2");
  ui.frames(3);
  ui.click_at(centre_of(ui.item("models", "wte")), ImGuiMouseButton_Right);
  CHECK_THAT(told(ui), contains_text("parameters of wte"));
}

TEST_CASE("a setting behind a number is shown in the form") {
  Ui ui;
  ui.open(large_scenario());
  ui.click("fit", "why?##step_time");
  ui.click("", "train.accumulation");
  ui.frames(4);
  CHECK(ui.session().selection().setting() == "train.accumulation");
  CHECK(ui.shows("scenario", "##train.accumulation"));
  CHECK_FALSE(ui.shows("scenario", "##model.config"));
}

}  // namespace shardlab::gui
