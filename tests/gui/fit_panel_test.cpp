#include "tests/catch.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {

TEST_CASE("the peak's instruction is a link, and so is each phase's") {
  Ui ui("fit", {700, 900});
  ui.open(large_scenario());
  const MemorySummary& memory = *ui.session().prediction()->summary().memory;
  ui.click("fit", "backward of the head");
  CHECK(ui.session().chosen() == memory.peak_instruction);
  ui.click("fit", "norms of the gradients");
  CHECK(ui.session().chosen() == InstructionId{724});
}

TEST_CASE("why? tells where a number comes from") {
  Ui ui("fit", {700, 900});
  ui.open(large_scenario());
  CHECK_FALSE(ui.shows("", "Copy the answer"));
  ui.click("fit", "why?##step_time");
  ui.click("", "Copy the answer");
  CHECK(std::string(ImGui::GetClipboardText()).find("step time") != std::string::npos);
}

TEST_CASE("the table is copied as CSV, by a right click") {
  Ui ui("fit", {700, 900});
  ui.open(large_scenario());
  ui.click_at(centre_of(ui.item("fit", "optimizer state")), ImGuiMouseButton_Right);
  ui.click("", "Copy the table as CSV");
  const std::string csv = ImGui::GetClipboardText();
  CHECK(csv.find("optimizer state,8030") != std::string::npos);
}

TEST_CASE(
    "a row of the explained memory leads to its instruction, a setting that would lower it is one click") {
  Ui ui("fit", {900, 3000});
  ui.open(large_scenario());
  ui.wait_for("fit", "saved activations of 32 layers");
  ui.click("fit", "saved activations of 32 layers");
  CHECK(ui.session().chosen());
  ui.click("fit", "activation.checkpoint=full");
  CHECK(ui.session().document().text().find("full") != std::string::npos);
}

TEST_CASE("a baseline is set by a button and by the palette's command, and the edit's effect is a table") {
  Ui ui({}, {1440, 1600});
  ui.open(large_scenario());
  CHECK_FALSE(ui.shows("fit", "difference"));
  ui.click("fit", "Set as baseline");
  ui.session().set("train.micro_batch", "2");
  ui.settle();
  ui.frames(3);
  ui.item("fit", "difference");
  ui.click("fit", "Forget the baseline");
  ui.frames(2);
  CHECK_FALSE(ui.shows("fit", "difference"));
  ui.press(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
  ui.type("baseline");
  ui.press(ImGuiKey_Enter);
  CHECK(ui.session().baseline() != nullptr);
}

TEST_CASE("what does not fit is said, in narrow windows too") {
  Ui ui("fit", {300, 700});
  ui.open(large_scenario());
  ui.session().set("train.micro_batch", "64");
  ui.settle();
  REQUIRE(ui.session().prediction()->summary().fits == Fit::no);
  const Picture picture = ui.headless().picture();
  std::size_t red = 0;
  for (const ImU32 pixel : picture.pixels) red += pixel == ui.shell().theme().bad ? 1 : 0;
  CHECK(red > 20);  // the verdict and the capacity line
}

}  // namespace shardlab::gui
