// The lower part of the memory panel: what is alive, in words; what lies outside the device. Private to this
// folder.
#pragma once

#include <vector>

#include "gui/panels/memory/memory_plot.h"
#include "gui/shell/panel.h"
#include "gui/view_model/memory/alive_table.h"
#include "gui/widgets/data_grid.h"

namespace shardlab::gui {

class MemoryDetails {
 public:
  // Shows the run at the chosen instruction, and at the peak while none is chosen.
  void draw(const view::LoadedRunPtr& run, PanelContext& context);

 private:
  void refresh(const view::LoadedRunPtr& run, std::optional<InstructionId> chosen);
  void draw_alive(PanelContext& context, std::optional<InstructionId> chosen);
  void draw_spaces(PanelContext& context);

  view::LoadedRunPtr run_;
  std::optional<InstructionId> at_;
  int form_ = 0, made_for_form_ = -1;  // AliveForm
  std::vector<view::BufferLife> lives_;
  view::DataTable alive_, spaces_, transfers_;
  bool elsewhere_ = false;
  std::uint64_t revision_ = 0;
  DataGridState alive_state_, spaces_state_, transfers_state_;
};

}  // namespace shardlab::gui
