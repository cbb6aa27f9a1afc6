#include "tests/catch.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {
TEST_CASE("a node of the browser becomes the scenario's") {
  Ui ui("hardware", {900, 800});
  ui.open(small_scenario());
  ui.wait_for("hardware", "A10");
  ui.click("hardware", "A10");
  CHECK(ui.shows("hardware", "memory_bandwidth"));  // its figures, with their sources
  ui.click("hardware", "Nodes");
  ui.click("hardware", "dgx-h100");
  ui.click("hardware", "Use in the scenario");
  CHECK(ui.session().document().text().find("node: dgx-h100") != std::string::npos);
  CHECK(ui.session().document().text().find("device: cpu") == std::string::npos);
}

TEST_CASE("a model of the browser becomes the scenario's") {
  Ui ui("models", {900, 800});
  ui.open(large_scenario());
  ui.wait_for("models", "llama-3-70b");
  ui.click("models", "llama-3-70b");
  CHECK(ui.shows("models", "layers"));
  CHECK(ui.shows("models", "0 to 79"));
  ui.click("models", "Use in the scenario");
  ui.settle();
  CHECK(ui.session().prediction()->planned.graph.layers == 80);
}

TEST_CASE("headings sort") {
  Ui ui("models", {900, 800});
  ui.wait_for("models", "falcon-40b");
  const auto above = [&](const char* a, const char* b) {
    return ui.item("models", a).min.y < ui.item("models", b).min.y;
  };
  CHECK(above("falcon-40b", "gpt2"));
  const ProbedItem first = ui.item("models", "falcon-40b");
  ui.click_at({680, first.min.y - 15});  // parameters, largest first
  ui.click_at({680, first.min.y - 15});  // smallest first
  CHECK(above("tiny-llama", "gpt2"));
}

}  // namespace shardlab::gui
