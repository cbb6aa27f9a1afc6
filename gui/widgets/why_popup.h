// "why?": where a number comes from, in a pop-up. A figure has a small link beside it; a cell of a table and
// a place in a plot answer a right click, or `?` while the mouse is over them.
#pragma once

#include <functional>
#include <optional>

#include "gui/view_model/data_table.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// What a click inside the pop-up asked for.
struct WhyAnswer {
  std::optional<InstructionId> go_to;
  std::optional<std::string> setting;  // a key of the scenario
};

// Whether the user asks why in this frame, of whatever the mouse is over: the right button or `?`.
bool is_why_asked();

// Belongs to whoever shows the numbers. Drawn in the window and ID scope in which it was asked.
class WhyPopup {
 public:
  // `why` may be absent: then there is only what one can do with the table.
  void ask(std::optional<view::Why> why);
  // Every frame. `table` offers itself as CSV; may be null.
  WhyAnswer draw(const Theme& theme, const view::DataTable* table = nullptr);

 private:
  std::optional<view::Why> why_;
  bool opens_ = false;
};

// Asks `popup` when it is clicked: `make` is called then, and where it has no value nothing is known.
void why_button(const char* label, WhyPopup& popup, const Theme& theme,
                const std::function<std::optional<view::Why>()>& make);

}  // namespace shardlab::gui
