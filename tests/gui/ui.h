// The window without a window: frames, a mouse and a keyboard under a test's control.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gui/session/session.h"
#include "gui/shell/headless.h"
#include "gui/shell/item_probe.h"
#include "gui/shell/shell.h"

namespace shardlab::gui {

class Ui {
 public:
  // The whole window, or the named panel alone.
  explicit Ui(std::string only_panel = {}, ImVec2 size = {1440, 900}, float scale = 1);

  Session& session() { return session_; }
  Shell& shell() { return shell_; }
  Headless& headless() { return headless_; }

  void frames(int count = 1);
  // Opens the scenario and draws it predicted.
  void open(const std::string& yaml);
  // Until the present text is predicted and drawn.
  void settle();

  // The first visible item with this label in the panel with this id, or, where none has exactly this one,
  // with this label before its ##; an empty panel: in any window. Fails the test when there is none.
  ProbedItem item(std::string_view panel, std::string_view label);
  std::optional<ProbedItem> find(std::string_view panel, std::string_view label);
  bool shows(std::string_view panel, std::string_view label) { return find(panel, label).has_value(); }

  // Draws frames until it is there, for what threads make; ten seconds at most.
  void wait_for(std::string_view panel, std::string_view label);

  void click(std::string_view panel, std::string_view label);
  void double_click(std::string_view panel, std::string_view label);
  void click_at(ImVec2 place, ImGuiMouseButton button = ImGuiMouseButton_Left);
  void move_to(ImVec2 place);
  void drag(ImVec2 from, ImVec2 to, ImGuiMouseButton button = ImGuiMouseButton_Left);
  void wheel(ImVec2 place, float notches);
  void press(ImGuiKeyChord chord);
  void type(std::string_view text);
  // Clicks into a text field, replaces what is there and presses Enter.
  void enter(std::string_view panel, std::string_view label, std::string_view text);

  // Everything that is found under `panel`, for the message of a failure.
  std::string items_of(std::string_view panel);

 private:
  void step() { headless_.frame(session_); }

  Session session_;
  Headless headless_;
  Shell shell_;
  ItemProbe probe_;
};

ImVec2 centre_of(const ProbedItem& item);

// A small scenario of two CPU ranks that predicts in milliseconds, and one of eight H100.
std::string small_scenario();
std::string large_scenario();

}  // namespace shardlab::gui
