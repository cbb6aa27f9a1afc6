// A vertical axis in bytes for ImPlot, with ticks at round binary numbers, which ImPlot does not know.
#pragma once

#include <imgui.h>

namespace shardlab::gui {

// Between ImPlot::BeginPlot() and SetupFinish(): from nothing to `top`, not to be moved by the mouse, with as
// many ticks as have room in so many pixels.
void set_up_byte_axis(double top, float height);

}  // namespace shardlab::gui
