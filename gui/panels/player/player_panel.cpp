// Step player: the plan played as an animation, buffers filling and emptying; for teaching.
#include <fmt/format.h>

#include <algorithm>

#include "engine/report/explain/reason.h"
#include "gui/panels/player/buffer_shelf.h"
#include "gui/shell/panel.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/step_player.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

class PlayerPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "player",
            .title = "Step player",
            .help = "The plan played instruction by instruction: buffers filling and emptying",
            .area = DockArea::bottom,
            .rank = 30,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_6};
  }

  void draw(PanelContext& context) override {
    refresh(context.session);
    if (!player_) {
      no_prediction_state(context.session, "No plan to play", "Open a scenario: its steady step plays here.",
                          context.theme);
      return;
    }
    const DimWhenStale dim(context.session.stale());
    move(context.session);
    draw_controls(context);
    draw_instruction(context.theme);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing,
                        {ImGui::GetStyle().ItemSpacing.x, context.theme.scaled(3)});
    if (ImGui::BeginChild("shelves")) {
      const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
      named_area("shelves", at, {at.x + room.x, at.y + room.y});
      if (auto asked = picture_menu("step", at, {at.x + room.x, at.y + room.y}))
        context.pictures.push_back(*std::move(asked));
      draw_shelves(*run_, frame_of(*player_), most_, context.theme);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
  }

 private:
  void refresh(Session& session) {
    if (run_ == session.predicted_run()) return;
    run_ = session.predicted_run();
    player_.reset();
    if (!run_ || run_->plan().instructions.empty()) return;
    player_.emplace(run_->plan());
    player_->set_speed(speed_);
    most_ = highest_of_a_class(run_->plan(), player_->lives());
    seen_changes_ = ~0ULL;
  }

  // Time goes on; what another panel chose is sought, what plays is chosen everywhere.
  void move(Session& session) {
    const double now = session.now(), passed = std::min(now - before_, 0.1);
    before_ = now;
    if (session.selection().instruction_changes() != seen_changes_) {
      seen_changes_ = session.selection().instruction_changes();
      if (const auto id = chosen_in(session, *run_)) player_->seek(id->index());
    }
    if (!player_->playing()) return;
    const std::size_t position = player_->position();
    player_->advance(passed);
    if (player_->position() != position || player_->at_end()) choose(session);
  }

  void choose(Session& session) {
    choose_in(session, *run_, make_id<InstructionId>(player_->position()));
    seen_changes_ = session.selection().instruction_changes();
  }

  void draw_controls(PanelContext& context) {
    Session& session = context.session;
    const float scale = context.theme.scale;
    if (ImGui::Button(player_->playing() ? "Pause##play" : "Play##play", {70 * scale, 0})) {
      if (player_->playing())
        player_->pause();
      else
        player_->play();
    }
    ImGui::SameLine();
    if (ImGui::Button("Back")) player_->step_back(), choose(session);
    ImGui::SameLine();
    if (ImGui::Button("Step")) player_->step_forward(), choose(session);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(120 * scale);
    if (ImGui::BeginCombo("##speed", fmt::format("{} a second", speed_).c_str())) {
      for (const double speed : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0}) {
        if (!ImGui::Selectable(fmt::format("{} a second", speed).c_str(), speed == speed_)) continue;
        speed_ = speed;
        player_->set_speed(speed);
      }
      ImGui::EndCombo();
    }
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1);
    auto position = static_cast<int>(player_->position());
    const int last = static_cast<int>(run_->plan().instructions.size()) - 1;
    if (ImGui::SliderInt("##position", &position, 0, last, fmt::format("%d of {}", last).c_str())) {
      player_->seek(static_cast<std::size_t>(std::clamp(position, 0, last)));
      choose(session);
    }
  }

  void draw_instruction(const Theme& theme) {
    const StepPlan& plan = run_->plan();
    const auto id = make_id<InstructionId>(player_->position());
    const Instruction& instruction = plan.instruction(id);
    ImGui::PushFont(theme.fonts.bold, 0);
    ImGui::TextUnformatted(run_->words().instruction(id).c_str());
    ImGui::PopFont();
    ImGui::SameLine();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "%s on %s",
                       instruction_label(plan, id).c_str(),
                       plan.streams[instruction.stream.index()].name.c_str());
    const view::PlayerFrame frame = frame_of(*player_);
    const std::string live =
        fmt::format("{} live, {} at most so far", to_string(frame.live), to_string(frame.highest_so_far));
    ImGui::SameLine(std::max(
        ImGui::GetWindowWidth() - ImGui::CalcTextSize(live.c_str()).x - ImGui::GetStyle().WindowPadding.x,
        theme.scaled(320)));
    ImGui::TextUnformatted(live.c_str());
    ImGui::PushTextWrapPos(std::max(ImGui::GetWindowWidth() - theme.scaled(240), theme.scaled(200)));
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "%s",
                       std::string(purpose_of(instruction.kind)).c_str());
    ImGui::PopTextWrapPos();
    draw_motion_legend(theme);
  }

  view::LoadedRunPtr run_;
  std::optional<view::StepPlayer> player_;
  Bytes most_{1};
  double speed_ = 4;
  double before_ = 0;
  std::uint64_t seen_changes_ = ~0ULL;
};

}  // namespace

std::unique_ptr<Panel> make_player_panel() {
  return std::make_unique<PlayerPanel>();
}

}  // namespace shardlab::gui
