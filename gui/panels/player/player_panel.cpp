// Step player: the plan played as an animation, ranks side by side, their buffers filling and emptying, and
// what moves between them; for teaching.
#include <fmt/format.h>

#include <algorithm>

#include "engine/report/explain/reason.h"
#include "gui/panels/player/move_lines.h"
#include "gui/shell/panel.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/player/step_player.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

class PlayerPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "player",
            .title = "Step player",
            .help = "The plan played instruction by instruction: buffers of several ranks, and what moves",
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
    const view::BoardFrame frame = board_->frame(*player_);
    draw_instruction(frame, context.theme);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing,
                        {ImGui::GetStyle().ItemSpacing.x, context.theme.scaled(3)});
    if (ImGui::BeginChild("shelves", {}, ImGuiChildFlags_None, ImGuiWindowFlags_HorizontalScrollbar)) {
      const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
      named_area("shelves", at, {at.x + room.x, at.y + room.y});
      if (auto asked = picture_menu("step", at, {at.x + room.x, at.y + room.y}))
        context.pictures.push_back(*std::move(asked));
      draw_ranks(frame, context.theme);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
  }

 private:
  void refresh(Session& session) {
    if (run_ == session.predicted_run()) return;
    run_ = session.predicted_run();
    player_.reset();
    board_.reset();
    if (!run_ || run_->plan().instructions.empty()) return;
    player_.emplace(run_->plan());
    board_ = std::make_unique<view::RankBoard>(run_->plan(), session.prediction()->planned.scenario);
    player_->set_speed(speed_);
    scales_ = shelf_scales(run_->plan(), player_->lives());
    seen_changes_ = ~0ULL;
  }

  // Time goes on; what another panel chose is sought, what plays is chosen everywhere.
  void move(Session& session) {
    const double now = session.now(), passed = std::min(now - before_, 0.1);
    before_ = now;
    if (session.selection().instruction_changes() != seen_changes_) {
      seen_changes_ = session.selection().instruction_changes();
      if (const auto id = chosen_in(session, *run_)) player_->seek(id->index(), session.selection().played());
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

  void draw_instruction(const view::BoardFrame& frame, const Theme& theme) {
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
    const std::string live = fmt::format("{} live, {} at most so far", to_string(frame.buffers.live),
                                         to_string(frame.buffers.highest_so_far));
    draw_at_right(live);
    std::string purpose(purpose_of(instruction.kind));
    if (!frame.flows.empty())
      purpose += fmt::format(" {} of {} moved.", to_string(frame.moved), to_string(frame.moving));
    draw_purpose(purpose, frame.lanes.size() > 1, theme);
  }

  // On the line of what was drawn last where there is room for it, else on the next.
  static void draw_at_right(const std::string& text) {
    const float left =
        ImGui::GetWindowWidth() - ImGui::CalcTextSize(text.c_str()).x - ImGui::GetStyle().WindowPadding.x;
    if (left > ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + ImGui::GetStyle().ItemSpacing.x)
      ImGui::SameLine(left);
    ImGui::TextUnformatted(text.c_str());
  }

  // The legend stands beside it where the text keeps room to be read.
  static void draw_purpose(const std::string& purpose, bool several_ranks, const Theme& theme) {
    const float left =
        ImGui::GetWindowWidth() - box_legend_width(several_ranks, theme) - ImGui::GetStyle().WindowPadding.x;
    const bool beside = left > theme.scaled(240);
    ImGui::PushTextWrapPos(beside ? left - theme.scaled(14) : 0);
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "%s", purpose.c_str());
    ImGui::PopTextWrapPos();
    if (beside) ImGui::SameLine(left);
    draw_box_legend(several_ranks, theme);
  }

  void draw_ranks(const view::BoardFrame& frame, const Theme& theme) {
    const ShelfPlaces places(run_->plan(), frame.lanes, theme);
    draw_headings(frame, places, theme);
    const BoxesOfLanes boxes = draw_shelves(*run_, frame, scales_, places, theme);
    draw_moves(run_->plan(), frame, places, boxes, theme);
    ImGui::Dummy(places.size());
  }

  view::LoadedRunPtr run_;
  std::optional<view::StepPlayer> player_;
  std::unique_ptr<view::RankBoard> board_;  // null without a player
  ShelfScales scales_;
  double speed_ = 4;
  double before_ = 0;
  std::uint64_t seen_changes_ = ~0ULL;
};

}  // namespace

std::unique_ptr<Panel> make_player_panel() {
  return std::make_unique<PlayerPanel>();
}

}  // namespace shardlab::gui
