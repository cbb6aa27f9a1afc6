#include "gui/panels/fit/fit_memory.h"

#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/memory/memory_tables.h"

namespace shardlab::gui {

void FitMemory::refresh(const std::shared_ptr<const Prediction>& prediction, const PredictedMemory& memory) {
  if (prediction != shown_) {
    shown_ = prediction;
    const MemorySum sum = memory_sum(prediction->summary());
    sum_ = view::memory_sum_table(sum);
    tools_ = view::other_tools_table(sum, other_tools(prediction->planned));
    life_ = view::life_table(prediction->summary());
    explained_ = nullptr;
    whole_ = false;
    rows_ = savings_ = {};
    ++version_;
  }
  if (memory.explained == explained_ || !memory.explained) return;
  explained_ = memory.explained;
  whole_ = memory.whole;
  rows_ = view::memory_rows_table(*explained_);
  savings_ = view::savings_table(*explained_);
  ++version_;
}

GridEvents FitMemory::draw_grid(const char* id, const view::DataTable& table, DataGridState& state,
                                PanelContext& context) {
  GridEvents events = data_grid(
      id, table, state, {.revision = version_, .size = {0, grid_height(table.rows.size())}}, context.theme);
  follow_why(events.answer, shown_->run.get(), context);
  return events;
}

void FitMemory::draw(const std::shared_ptr<const Prediction>& prediction, PanelContext& context) {
  refresh(prediction, context.session.explained_memory());
  if (sum_.rows.empty()) return;
  ImGui::SeparatorText("Memory, from tensors to the device");
  draw_grid("up to the device", sum_, sum_grid_, context);
  ImGui::SeparatorText("What the tensors are");
  context.session.explain_memory();
  if (!explained_) ImGui::TextDisabled("being explained ...");
  if (!rows_.rows.empty()) {
    const GridEvents events = draw_grid("memory rows", rows_, rows_grid_, context);
    if (events.click && rows_.rows[events.click->row].instruction)
      choose_in(context.session, *shown_->run, *rows_.rows[events.click->row].instruction);
  }
  draw_savings(context);
  if (!life_.rows.empty()) {
    ImGui::SeparatorText("Over the life of the job");
    draw_grid("life of the job", life_, life_grid_, context);
  }
  if (!ImGui::TreeNode("What other tools say")) return;
  draw_grid("other tools", tools_, tools_grid_, context);
  ImGui::TreePop();
}

// A click on a row makes the setting.
void FitMemory::draw_savings(PanelContext& context) {
  ImGui::SeparatorText("Settings that would lower it");
  if (!whole_) {
    ImGui::TextDisabled("being predicted ...");
    return;
  }
  if (savings_.rows.empty()) {
    ImGui::TextDisabled("no single setting that was tried");
    return;
  }
  const GridEvents events = draw_grid("savings", savings_, savings_grid_, context);
  ImGui::TextDisabled("each predicted alone; a click makes the setting");
  if (!events.click || context.session.stale()) return;
  const std::string& setting = savings_.rows[events.click->row].cells.front().text;
  const std::size_t equals = setting.find('=');
  context.session.set(setting.substr(0, equals), setting.substr(equals + 1));
}

}  // namespace shardlab::gui
