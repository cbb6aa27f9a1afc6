#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {
namespace {

std::string value_of(Ui& ui, const char* key) {
  const auto& prediction = ui.session().prediction();
  REQUIRE(prediction);
  const Scenario& scenario = prediction->planned.scenario;
  if (std::string(key) == "micro_batch") return std::to_string(scenario.train->micro_batch);
  return scenario.parallel->strategy;
}

}  // namespace

TEST_CASE("scenario: another document has a form of its own, although neither was edited") {
  Ui ui;
  ui.open(small_scenario());
  CHECK_FALSE(ui.shows("scenario", "x##default cluster.node"));
  ui.open(large_scenario());
  CHECK(ui.shows("scenario", "x##default cluster.node"));
}

TEST_CASE("a typed number changes the text, the prediction and nothing else") {
  Ui ui("scenario", {460, 1200});
  ui.open(large_scenario());
  ui.enter("scenario", "##train.micro_batch", "2");
  ui.settle();
  CHECK(value_of(ui, "micro_batch") == "2");
  std::string expected = large_scenario();
  expected.replace(expected.find("micro_batch: 1"), 14, "micro_batch: 2");
  CHECK(ui.session().document().text() == expected);
}

TEST_CASE("plus and minus step a number, and minus stops at the least") {
  Ui ui("scenario", {460, 1200});
  ui.open(large_scenario());
  ui.click("scenario", "+##train.micro_batch");
  ui.settle();
  CHECK(value_of(ui, "micro_batch") == "2");
  ui.click("scenario", "-##train.micro_batch");
  ui.settle();
  ui.click("scenario", "-##train.micro_batch");
  ui.settle();
  CHECK(value_of(ui, "micro_batch") == "1");
  CHECK_FALSE(ui.session().problem());
}

TEST_CASE("a choice from a list") {
  Ui ui("scenario", {460, 1200});
  ui.open(large_scenario());
  ui.session().unset("parallel.reshard_after_forward");
  ui.settle();
  ui.click("scenario", "##parallel.strategy");
  ui.click("", "fsdp1");
  ui.settle();
  CHECK(value_of(ui, "strategy") == "fsdp1");
}

TEST_CASE("a setting back to its default") {
  Ui ui("scenario", {460, 1200});
  ui.open(large_scenario());
  ui.click("scenario", "x##default train.clip_norm");
  ui.settle();
  CHECK(ui.session().document().text().find("clip_norm") == std::string::npos);
  CHECK_FALSE(ui.session().stale());
}

TEST_CASE("a mistake is shown at its field and in the text, and typing it right ends it") {
  Ui ui("scenario", {1000, 1200});
  ui.open(large_scenario());
  ui.enter("scenario", "##train.micro_batch", "0");
  ui.settle();
  REQUIRE(ui.session().problem());
  CHECK(ui.session().stale());
  CHECK(ui.shows("", "line 13"));
  ui.enter("scenario", "##train.micro_batch", "3");
  ui.settle();
  CHECK_FALSE(ui.session().problem());
  CHECK(value_of(ui, "micro_batch") == "3");
}

TEST_CASE("search finds settings that are not shown otherwise") {
  Ui ui("scenario", {460, 1200});
  ui.open(large_scenario());
  CHECK_FALSE(ui.shows("scenario", "##launch.timeout"));
  ui.click("scenario", "##search settings");
  ui.type("timeout");
  CHECK(ui.shows("scenario", "##launch.timeout"));
  CHECK_FALSE(ui.shows("scenario", "##train.micro_batch"));
}

TEST_CASE("all settings shows those that apply") {
  Ui ui("scenario", {460, 4400});
  ui.open(large_scenario());
  CHECK_FALSE(ui.shows("scenario", "##train.seed"));
  ui.click("scenario", "all settings");
  CHECK(ui.shows("scenario", "##train.seed"));
  CHECK_FALSE(ui.shows("scenario", "##parallel.ddp.bucket_size"));  // of another strategy
}

TEST_CASE("typing into the text changes the form's value; undo takes it back") {
  Ui ui("scenario", {1000, 1200});
  ui.open(large_scenario());
  const ProbedItem form = ui.item("scenario", "##train.micro_batch");
  ui.click_at({950, 300});  // into the editor
  ui.press(ImGuiMod_Ctrl | ImGuiKey_End);
  ui.type("measure: {steps: 4}");
  ui.settle();
  INFO(ui.session().document().text());
  REQUIRE_FALSE(ui.session().problem());
  CHECK(ui.session().prediction()->planned.scenario.measure->steps == 4);
  while (ui.session().document().can_undo()) ui.session().undo();
  ui.settle();
  CHECK(ui.session().document().text() == large_scenario());
  CHECK(form.visible);
}

TEST_CASE("Ctrl+Z and Ctrl+Y go through changes of the form and of the text, wherever the keyboard is") {
  Ui ui({}, {3000, 1200});
  ui.open(large_scenario());
  std::vector<std::string> texts{ui.session().document().text()};
  const auto changed = [&] {
    ui.settle();
    REQUIRE(ui.session().document().text() != texts.back());
    texts.push_back(ui.session().document().text());
  };
  const auto into_the_editor = [&] {
    const ProbedItem search = ui.item("scenario", "all settings");
    ui.click_at({search.max.x + 300, 500});
  };
  ui.enter("scenario", "##train.micro_batch", "2");
  changed();
  into_the_editor();
  ui.press(ImGuiMod_Ctrl | ImGuiKey_End);
  ui.type("measure: {steps: 4}");
  changed();
  ui.enter("scenario", "##train.micro_batch", "3");
  changed();
  into_the_editor();
  const auto check_at = [&](std::size_t state) {
    ui.settle();
    INFO(state << ": " << ui.session().document().text());
    CHECK(ui.session().document().text() == texts[state]);
    CHECK_FALSE(ui.session().stale());
  };
  for (std::size_t state = texts.size() - 1; state-- > 0;) {
    ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);
    check_at(state);
  }
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);  // nothing is left
  check_at(0);
  for (std::size_t state = 1; state < texts.size(); ++state) {
    ui.press(ImGuiMod_Ctrl | ImGuiKey_Y);
    check_at(state);
  }
  // What is typed after an undo is where redo ends.
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);
  check_at(2);
  ui.press(ImGuiMod_Ctrl | ImGuiKey_End);
  ui.type("# a remark");
  changed();
  CHECK_FALSE(ui.session().document().can_redo());
  ui.press(ImGuiMod_Ctrl | ImGuiKey_Z);
  check_at(2);
}

TEST_CASE("without a scenario the panel says how to get one") {
  Ui ui("scenario", {460, 600});
  ui.click("scenario", "Start from an example");
  ui.settle();
  CHECK(ui.session().prediction());
}

TEST_CASE("text that is no YAML leaves the form in sight, switched off") {
  Ui ui("scenario", {1000, 1200});
  ui.open(large_scenario());
  ui.session().edit_text("train: [");
  ui.settle();
  CHECK(ui.item("scenario", "##train.micro_batch").disabled);
}

}  // namespace shardlab::gui
