// Alive buffers as boxes on shelves, a shelf a class, as wide as they are large; a column a rank. Private to
// this folder.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "gui/panels/player/buffer_box.h"

namespace shardlab::gui {

// Where columns and shelves are, in pixels of the screen.
class ShelfPlaces {
 public:
  // In the room that is left in the window; `lanes` as in BoardFrame.
  ShelfPlaces(const StepPlan& plan, const std::vector<view::LaneState>& lanes, const Theme& theme);

  const std::vector<Box>& columns() const { return columns_; }  // a lane each, below its heading
  const Box& heading() const { return heading_; }               // of all columns, and of the labels before
  bool has_heading() const { return heading_.max.y > heading_.min.y; }
  // Nothing for a class that the plan has no buffer of.
  std::optional<Box> shelf(std::size_t lane, BufferClass buffer_class) const;
  float label_width() const { return label_; }
  ImVec2 size() const;  // with labels and headings

 private:
  float label_ = 0, shelf_height_ = 0, apart_ = 0;
  Box heading_{};
  std::vector<Box> columns_;
  std::array<int, k_buffer_classes> places_{};  // of shelves, from 0; below: there is none
};

// What fills the whole width of a shelf: the highest bytes of one class at any time, so that boxes do not
// change their size while the plan plays. Parameters, gradients and optimizer state have a scale of their
// own: beside the activations of many tokens they would be too small to show what moves.
struct ShelfScales {
  Bytes states{1}, others{1};

  Bytes of(BufferClass buffer_class) const;
};
ShelfScales shelf_scales(const StepPlan& plan, const std::vector<view::BufferLife>& lives);

// The boxes of every lane, in the order of BoardFrame::buffers; none in a folded one.
using BoxesOfLanes = std::vector<std::vector<Box>>;
BoxesOfLanes draw_shelves(const view::LoadedRun& run, const view::BoardFrame& frame,
                          const ShelfScales& scales, const ShelfPlaces& places, const Theme& theme);

}  // namespace shardlab::gui
