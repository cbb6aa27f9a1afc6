#include "tests/gui/ui.h"

#include <chrono>
#include <thread>

#include "gui/session/text_file.h"
#include "gui/shell/panel.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

bool in_panel(const ProbedItem& item, std::string_view panel) {
  if (panel.empty()) return true;
  const std::string id = "###" + std::string(panel);
  const std::size_t at = item.window.find(id);
  return at != std::string::npos &&
         (at + id.size() == item.window.size() || item.window[at + id.size()] == '/');
}

bool is_called(const ProbedItem& item, std::string_view label) {
  return item.label == label || std::string_view(item.label).substr(0, item.label.find("##")) == label;
}

std::string scenario_file(const char* name) {
  return read_text_file(std::string(SHARDLAB_TEST_SOURCE) + "/scenarios/first/" + name).value();
}

}  // namespace

Ui::Ui(std::string only_panel, ImVec2 size, float scale)
    : headless_(size, scale),
      shell_(session_, make_panels(), headless_.fonts(),
             {.only_panel = std::move(only_panel), .remembers = false, .preferences_file = {}}) {
  headless_.show(shell_);
  frames(2);
}

void Ui::frames(int count) {
  for (int i = 0; i < count; ++i) {
    probe_.begin_frame();
    step();
  }
}

void Ui::open(const std::string& yaml) {
  session_.open_text(yaml, std::string(SHARDLAB_TEST_SOURCE) + "/scenarios/first/test.yaml");
  settle();
}

void Ui::settle() {
  for (int i = 0; i < 20 && !session_.settle(); ++i) frames(1);
  frames(3);
  for (int i = 0; i < 1000 && shell_.busy(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    frames(1);
  }
  frames(1);
}

std::optional<ProbedItem> Ui::find(std::string_view panel, std::string_view label) {
  std::optional<ProbedItem> found;
  for (const ProbedItem& candidate : probe_.items()) {
    if (!candidate.visible || !in_panel(candidate, panel) || !is_called(candidate, label)) continue;
    if (candidate.label == label) return candidate;
    if (!found) found = candidate;
  }
  return found;
}

ProbedItem Ui::item(std::string_view panel, std::string_view label) {
  const auto found = find(panel, label);
  INFO("looking for '" << label << "' in " << panel << ":\n" << items_of(panel));
  REQUIRE(found.has_value());
  return *found;
}

std::string Ui::items_of(std::string_view panel) {
  std::string text;
  for (const ProbedItem& known : probe_.items())
    if (in_panel(known, panel) && !known.label.empty())
      text += known.window + " | " + known.label + (known.visible ? "\n" : " (hidden)\n");
  return text;
}

void Ui::wait_for(std::string_view panel, std::string_view label) {
  for (int i = 0; i < 2000 && !shows(panel, label); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    frames();
  }
}

ImVec2 centre_of(const ProbedItem& item) {
  return {static_cast<float>(static_cast<int>((item.min.x + item.max.x) / 2)),
          static_cast<float>(static_cast<int>((item.min.y + item.max.y) / 2))};
}

void Ui::move_to(ImVec2 place) {
  ImGui::GetIO().AddMousePosEvent(place.x, place.y);
  frames(2);
}

void Ui::click_at(ImVec2 place, ImGuiMouseButton button) {
  move_to(place);
  ImGui::GetIO().AddMouseButtonEvent(button, true);
  frames(1);
  ImGui::GetIO().AddMouseButtonEvent(button, false);
  frames(3);
}

// What arrives meanwhile may move it: the mouse follows until it stands still.
void Ui::click(std::string_view panel, std::string_view label) {
  constexpr int k_most_moves = 10;
  ImVec2 place = centre_of(item(panel, label));
  for (int i = 0; i < k_most_moves; ++i) {
    move_to(place);
    const ImVec2 now = centre_of(item(panel, label));
    if (now.x == place.x && now.y == place.y) break;
    place = now;
  }
  click_at(place);
}

void Ui::double_click(std::string_view panel, std::string_view label) {
  const ImVec2 place = centre_of(item(panel, label));
  click_at(place);
  click_at(place);
}

void Ui::drag(ImVec2 from, ImVec2 to, ImGuiMouseButton button) {
  constexpr int k_steps = 8;
  move_to(from);
  ImGui::GetIO().AddMouseButtonEvent(button, true);
  frames(1);
  for (int i = 1; i <= k_steps; ++i) {
    const float share = static_cast<float>(i) / k_steps;
    move_to({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
  }
  ImGui::GetIO().AddMouseButtonEvent(button, false);
  frames(3);
}

void Ui::wheel(ImVec2 place, float notches) {
  move_to(place);
  ImGui::GetIO().AddMouseWheelEvent(0, notches);
  frames(3);
}

void Ui::press(ImGuiKeyChord chord) {
  ImGuiIO& io = ImGui::GetIO();
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  const auto mods = [&](bool down) {
    for (const ImGuiKey mod : {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt})
      if ((chord & mod) != 0) io.AddKeyEvent(mod, down);
  };
  mods(true);
  io.AddKeyEvent(key, true);
  frames(2);
  io.AddKeyEvent(key, false);
  mods(false);
  frames(2);
}

void Ui::type(std::string_view text) {
  ImGui::GetIO().AddInputCharactersUTF8(std::string(text).c_str());
  frames(3);
}

void Ui::enter(std::string_view panel, std::string_view label, std::string_view text) {
  click(panel, label);
  press(ImGuiMod_Ctrl | ImGuiKey_A);
  type(text);
  press(ImGuiKey_Enter);
}

std::string small_scenario() {
  return scenario_file("tiny-llama.yaml");
}
std::string large_scenario() {
  return scenario_file("llama3-8b-fsdp2-8xh100.yaml");
}

}  // namespace shardlab::gui
