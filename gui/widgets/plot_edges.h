// Plots that show one time axis have their edges at one place, and bytes have an axis of round binary
// numbers.
#pragma once

#include <cstdint>

#include <imgui.h>

namespace shardlab::gui {

// Plots of several panels that show one time axis have their edges at one place, so that an instruction
// stands below itself: each keeps as much room at its left as the one with the widest labels takes, and room
// for a scrollbar at its right, whether it has one or not.

// What the plots of a frame need at their left; the shell has one.
class PlotEdges {
 public:
  // The room of this frame is what the frame before needed.
  void new_frame() { room_ = needed_, needed_ = 0; }
  float room() const { return room_; }
  void need(float pixels) { needed_ = pixels > needed_ ? pixels : needed_; }

 private:
  float room_ = 0, needed_ = 0;
};

// One plot of them. Its window begins where the other panels' do.
class AlignedPlot {
 public:
  // Before ImPlot::BeginPlot(): moves the cursor to the right.
  explicit AlignedPlot(PlotEdges& edges);
  // For BeginPlot().
  float width() const { return width_; }
  // About as many pixels as the plot's area will have: the same in all of them.
  float label_room() const { return width_ + shift_ - edges_.room(); }
  // Between ImPlot::SetupFinish() and EndPlot().
  void measure();

 private:
  PlotEdges& edges_;
  ImGuiID key_;  // under it stands what the window's plots needed in the frame before
  float begin_, shift_ = 0, width_ = 0;
};

// A vertical axis in bytes for ImPlot, with ticks at round binary numbers, which ImPlot does not know.

enum class ByteAxis : std::uint8_t {
  from_zero,
  above_unknown,  // of bytes that are counted from a level that nobody knows: "?", "? + 64.0 KiB"
};
// Between ImPlot::BeginPlot() and SetupFinish(): from nothing to `top`, not to be moved by the mouse, with as
// many ticks as have room in so many pixels.
void set_up_byte_axis(double top, float height, ByteAxis axis = ByteAxis::from_zero);

}  // namespace shardlab::gui
