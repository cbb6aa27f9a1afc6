// One run's stacked memory as an ImPlot plot. Private to this folder.
#pragma once

#include <optional>
#include <string>

#include "gui/shell/shared_time.h"
#include "gui/view_model/loaded_run.h"
#include "gui/view_model/memory/memory_track.h"
#include "gui/widgets/plot_edges.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

struct MemoryPlot {
  const view::LoadedRun& run;
  const view::MemoryTrack& track;
  double top = 1;     // bytes at the upper end of every plot's axis, so that runs compare by eye
  float opacity = 1;  // faint while it is stale
  std::optional<InstructionId> chosen{};
  float height = 0;                        // with the title
  std::optional<BufferClass> highlight{};  // the others are faint beside it
};

struct MemoryPlotResult {
  std::optional<std::size_t> pointed;  // the sample under the mouse
  bool clicked = false;
  bool asked = false;           // why it is so high there
  ImVec2 min{0, 0}, max{0, 0};  // of the plot, on the screen
};

MemoryPlotResult draw_memory_plot(const MemoryPlot& plot, SharedTime& time, PlotEdges& edges,
                                  const Theme& theme, view::StackedMemory& scratch);

// For people: "parameter shard".
std::string class_name(BufferClass buffer_class);
// A small square in the colour of the class, in the middle of a widget of this height.
void class_chip(BufferClass buffer_class, float height, const Theme& theme);

}  // namespace shardlab::gui
