// The effect of the edits since the baseline, in the Fit panel. Private to this folder.
#pragma once

#include "gui/shell/panel.h"
#include "gui/view_model/baseline.h"
#include "gui/widgets/data_grid.h"

namespace shardlab::gui {

class FitBaseline {
 public:
  // A button that keeps the prediction, and beside it one that forgets what is kept.
  static void draw_buttons(Session& session);
  // Nothing while the prediction is the baseline, or there is none.
  void draw(PanelContext& context);

 private:
  view::LoadedRunPtr now_, baseline_;
  view::DataTable table_;
  std::string title_;  // of the baseline's run
  DataGridState grid_;
  std::uint64_t version_ = 0;
};

}  // namespace shardlab::gui
