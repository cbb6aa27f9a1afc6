// Export: the open scenario as files of another tool, what a run of them does otherwise, and what of that is
// accepted; beside what stands on disk, and written.
#include <fmt/format.h>
#include <imgui.h>

#include <optional>
#include <utility>

#include "engine/report/figures.h"
#include "gui/panels/export/difference_list.h"
#include "gui/panels/export/export_work.h"
#include "gui/panels/export/file_preview.h"
#include "gui/shell/file_dialog.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/error_text.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

class ExportPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {
        .id = "export",
        .title = "Export",
        .help = "The scenario as files of accelerate, DeepSpeed, the Trainer, torchrun, Slurm, or a script",
        .area = DockArea::centre,
        .rank = 70,
        .open = true,
        .shortcut = 0};
  }

  void update(PanelContext& context) override { work_.take(context.session); }
  bool busy() const override { return work_.busy(); }

  void draw(PanelContext& context) override {
    if (context.session.documents_opened() == 0)
      return empty_state("No scenario is open", "Other tools' files of it are made here.", context.theme);
    work_.follow(context.session);
    refresh();
    if (!shown_) {
      ImGui::TextDisabled("making the files ...");
      return;
    }
    if (shown_->error) return draw_error(*shown_->error, context.theme);
    draw_toolbar(context);
    const DimWhenStale dim(work_.is_stale());
    const std::string& refusal = shown_->made.refusal.why;
    if (!refusal.empty()) {
      empty_state("Not for this scenario", refusal.c_str(), context.theme);
    } else {
      draw_cost(context);
      preview_.draw(work_.files(), context.theme);
    }
    dialog_.draw(context.theme);
  }

 private:
  void refresh() {
    if (std::exchange(shown_, work_.prepared()) == work_.prepared()) return;
    view_ = shown_ && !shown_->error && shown_->made.refusal.why.empty() ? view::view_export(shown_->made)
                                                                         : view::ExportView();
    ++revision_;
  }

  void draw_toolbar(PanelContext& context) {
    draw_targets(context.theme);
    ImGui::SameLine();
    if (ImGui::Button("Folder..."))
      dialog_.open("Folder of the files", work_.folder(), FileChoice::folder,
                   [this](const std::filesystem::path& folder) { work_.write_into(folder); });
    ImGui::SetItemTooltip("%s", work_.folder().string().c_str());
    ImGui::SameLine();
    draw_write(context);
  }

  void draw_targets(const Theme& theme) {
    ImGui::SetNextItemWidth(theme.scaled(230));
    if (!begin_combo("##target", words_of(*shown_->made.target).c_str(), ImGuiComboFlags_HeightLargest))
      return;
    for (const view::OfferedTarget& offered : shown_->targets) {
      const bool can = offered.refusal.empty();
      ImGui::PushStyleColor(ImGuiCol_Text, can ? theme.text : theme.dimmed);
      if (ImGui::Selectable(offered.words.c_str(), offered.name == shown_->made.target->name))
        work_.choose_target(std::string(offered.name));
      ImGui::PopStyleColor();
      ImGui::SetItemTooltip("%s", can ? offered.help.c_str() : offered.refusal.c_str());
    }
    ImGui::EndCombo();
  }

  void draw_write(PanelContext& context) {
    const std::size_t missing = accepted_.missing(view_.lost);
    const bool can_write = work_.can_write() && missing == 0;
    ImGui::BeginDisabled(!can_write);
    if (ImGui::Button(work_.overwrites() ? "Overwrite" : "Write")) work_.write();
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    if (missing > 0) {
      ImGui::TextColored(ImColor(context.theme.bad), "%s not accepted: nothing is written",
                         counted(static_cast<std::int64_t>(missing), "loss").c_str());
    } else {
      ImGui::TextDisabled("%s", work_.is_stale() ? "making the files ..." : work_.folder().string().c_str());
    }
  }

  // At most half of the panel, so that the files are seen below.
  void draw_cost(PanelContext& context) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImGui::SetNextWindowSizeConstraints({0, 0}, {room.x, room.y * 0.55F});
    if (ImGui::BeginChild("differences", {0, 0}, ImGuiChildFlags_AutoResizeY)) {
      draw_steps(context);
      draw_differences(view_, accepted_, context.theme);
    }
    ImGui::EndChild();
  }

  void draw_steps(PanelContext& context) {
    if (!view_.steps.rows.empty()) {
      const GridEvents events = data_grid(
          "steps", view_.steps, grid_,
          {.revision = revision_, .size = {0, grid_height(view_.steps.rows.size())}, .stretched = 0},
          context.theme);
      follow_why(events.answer, nullptr, context);
    }
    if (!view_.prediction.empty()) {
      ImGui::PushTextWrapPos(0);
      ImGui::TextColored(ImColor(context.theme.fair), "%s", view_.prediction.c_str());
      ImGui::PopTextWrapPos();
    }
    if (view_.lost.empty() && view_.added.empty())
      ImGui::TextDisabled("A run of the files is what the scenario says.");
  }

  ExportWork work_;
  std::shared_ptr<const view::PreparedExport> shown_;
  view::ExportView view_;  // of it
  std::uint64_t revision_ = 0;
  view::AcceptedLosses accepted_;
  DataGridState grid_;
  FilePreview preview_;
  FileDialog dialog_;
};

}  // namespace

std::unique_ptr<Panel> make_export_panel() {
  return std::make_unique<ExportPanel>();
}

}  // namespace shardlab::gui
