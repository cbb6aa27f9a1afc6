// "why?" beside a figure: a small link that opens where the number comes from.
#pragma once

#include <functional>
#include <optional>

#include "gui/view_model/why.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// What a click inside the pop-up asked for.
struct WhyAnswer {
  std::optional<InstructionId> go_to;
  std::optional<std::string> setting;  // a key of the scenario
};

// The answer itself, in whatever window is being drawn.
WhyAnswer draw_why(const view::Why& why, const Theme& theme);

// `make` is called when the pop-up opens and while it is open; without a value it says that nothing is known.
WhyAnswer why_button(const char* label, const Theme& theme, const std::function<std::optional<view::Why>()>& make);

}  // namespace shardlab::gui
