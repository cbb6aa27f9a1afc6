// What a run holds outside the device, below its plot and over the same time. Private to this folder.
#pragma once

#include "gui/panels/memory/memory_plot.h"

namespace shardlab::gui {

// With the gap above it; 0 where the run holds nothing there.
float space_plot_height(const view::MemoryTrack& track, const Theme& theme);

// A line a memory space. `stacked` is what draw_memory_plot() made of the same track in this frame.
void draw_space_plot(const MemoryPlot& plot, const view::StackedMemory& stacked, SharedTime& time,
                     PlotEdges& edges, const Theme& theme);

}  // namespace shardlab::gui
