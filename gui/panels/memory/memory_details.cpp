#include "gui/panels/memory/memory_details.h"

#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/memory/alive_lines.h"
#include "gui/view_model/memory/space_tables.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {

void MemoryDetails::refresh(const view::LoadedRunPtr& run, std::optional<InstructionId> chosen) {
  if (run_ == run && at_ == chosen && made_for_form_ == form_) return;
  if (run_ != run) {
    lives_ = view::buffer_lives(run->plan());
    elsewhere_ = view::leaves_the_device(*run);
    spaces_ = view::spaces_table(*run);
    transfers_ = view::transfers_table(*run);
  }
  run_ = run;
  at_ = chosen;
  made_for_form_ = form_;
  alive_ = view::alive_table(run, lives_, chosen, static_cast<view::AliveForm>(form_));
  ++revision_;
}

void MemoryDetails::draw(const view::LoadedRunPtr& run, PanelContext& context) {
  const std::optional<InstructionId> chosen = chosen_in(context.session, *run);
  refresh(run, chosen);
  if (!elsewhere_) return draw_alive(context, chosen);
  if (!ImGui::BeginTabBar("memory details", ImGuiTabBarFlags_DrawSelectedOverline)) return;
  if (begin_tab("Alive")) {
    draw_alive(context, chosen);
    ImGui::EndTabItem();
  }
  if (begin_tab("Spaces and transfers")) {
    draw_spaces(context);
    ImGui::EndTabItem();
  }
  ImGui::EndTabBar();
}

void MemoryDetails::draw_alive(PanelContext& context, std::optional<InstructionId> chosen) {
  ImGui::SetNextItemWidth(context.theme.scaled(130));
  constexpr const char* k_forms[] = {"added up", "each buffer"};
  ImGui::Combo("##form", &form_, k_forms, 2);
  name_last_item("##form");
  ImGui::SetItemTooltip("Alike buffers of several layers or micro-batches in one row, or a row a buffer");
  ImGui::SameLine();
  copy_csv_button("alive", alive_);
  // Last, because it may be longer than there is room.
  ImGui::SameLine();
  const bool at_peak = view::is_alive_at_peak(*run_, chosen);
  ImGui::TextDisabled("%s", chosen && !at_peak ? "alive after" : "alive at the peak, in");
  ImGui::SameLine();
  ImGui::TextUnformatted((chosen ? label_of(*run_, *chosen) : peak_label_of(*run_)).c_str());
  refresh(run_, chosen);
  const GridEvents events =
      data_grid("alive", alive_, alive_state_, {.revision = revision_, .stretched = 0}, context.theme);
  if (events.click && alive_.rows[events.click->row].instruction)
    choose_in(context.session, *run_, *alive_.rows[events.click->row].instruction);
  follow_why(events.answer, run_.get(), context);
}

void MemoryDetails::draw_spaces(PanelContext& context) {
  const auto grid = [&](const char* id, const view::DataTable& table, DataGridState& state) {
    const GridEvents events =
        data_grid(id, table, state, {.revision = revision_, .size = {0, grid_height(table.rows.size())}},
                  context.theme);
    follow_why(events.answer, run_.get(), context);
  };
  grid("spaces", spaces_, spaces_state_);
  if (!transfers_.rows.empty()) grid("transfers", transfers_, transfers_state_);
}

}  // namespace shardlab::gui
