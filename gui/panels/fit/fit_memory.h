// The part of the Fit panel that explains memory: up to the device, tensor by tensor, what would lower it,
// over the life of the job. Private to this folder.
#pragma once

#include <memory>

#include "gui/shell/panel.h"
#include "gui/view_model/memory/explained_tables.h"
#include "gui/widgets/data_grid.h"

namespace shardlab::gui {

class FitMemory {
 public:
  void draw(const std::shared_ptr<const Prediction>& prediction, PanelContext& context);

 private:
  void refresh(const std::shared_ptr<const Prediction>& prediction, const PredictedMemory& memory);
  void draw_savings(PanelContext& context);
  GridEvents draw_grid(const char* id, const view::DataTable& table, DataGridState& state,
                       PanelContext& context);

  std::shared_ptr<const Prediction> shown_;
  std::shared_ptr<const ExplainedMemory> explained_;
  bool whole_ = false;
  view::DataTable sum_, tools_, rows_, savings_, life_;
  DataGridState sum_grid_, tools_grid_, rows_grid_, savings_grid_, life_grid_;
  std::uint64_t version_ = 0;
};

}  // namespace shardlab::gui
