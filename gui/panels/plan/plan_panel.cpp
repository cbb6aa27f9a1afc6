// Plan: the instructions of a step in the order the host issues them, searched and filtered; the chosen one
// in words.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "gui/panels/plan/plan_explanation.h"
#include "gui/session/pass_snapshots.h"
#include "gui/view_model/plan_list.h"
#include "gui/widgets/combo.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

enum class StepChoice : std::uint8_t { setup, first, steady };
constexpr const char* k_step_names[] = {"setup", "first", "steady"};

class PlanPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "plan",
            .title = "Plan",
            .help = "The instructions of a step, and why each is there",
            .area = DockArea::centre,
            .rank = 20,
            .open = true,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_9};
  }

  void draw(PanelContext& context) override {
    Session& session = context.session;
    if (!session.prediction()) {
      ImGui::TextDisabled("%s",
                          session.problem() ? "The scenario has a mistake: see its panel." : "No plan yet.");
      return;
    }
    const DimWhenStale dim(session.stale());
    prediction_ = session.prediction();
    const StepPlan& plan = shown_plan();
    draw_filters(plan, context.theme);
    refresh(plan);
    const auto chosen = chosen_in(session);
    const float height = chosen ? ImGui::GetContentRegionAvail().y * 0.55F : 0;
    draw_list(plan, chosen, height, context);
    if (!chosen || after_pass_ >= 0) return;
    if (ImGui::BeginChild("explanation", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding)) {
      if (const auto next = explanation_.draw(prediction_, plan, *chosen, context.theme))
        choose(*next, session);
    }
    ImGui::EndChild();
  }

 private:
  const StepPlan& step_plan() const {
    const RunPlan& run = prediction_->planned.plan;
    return step_ == StepChoice::setup ? run.setup : step_ == StepChoice::first ? run.first : run.steady;
  }

  const StepPlan& shown_plan() {
    if (after_pass_ < 0 || step_ != StepChoice::steady) return step_plan();
    const auto found = snapshots_.of(prediction_);
    if (found) stood_ = found;
    const bool there = stood_ && static_cast<std::size_t>(after_pass_) < stood_->size();
    return there ? (*stood_)[static_cast<std::size_t>(after_pass_)].plan : step_plan();
  }

  // The shared choice speaks of the steady plan; in the others a choice is the panel's own.
  std::optional<InstructionId> chosen_in(const Session& session) const {
    if (after_pass_ >= 0) return std::nullopt;
    return step_ == StepChoice::steady ? session.chosen() : own_choice_;
  }

  void choose(InstructionId id, Session& session) {
    if (step_ == StepChoice::steady && after_pass_ < 0) {
      session.choose(id);
      scrolled_to_ = session.selection().instruction_changes();  // it is where the click was
    } else {
      own_choice_ = id;
    }
  }

  void draw_filters(const StepPlan& plan, const Theme& theme) {
    ImGui::SetNextItemWidth(theme.scaled(90));
    if (begin_combo("##step", k_step_names[static_cast<int>(step_)])) {
      for (const StepChoice step : {StepChoice::setup, StepChoice::first, StepChoice::steady}) {
        if (!ImGui::Selectable(k_step_names[static_cast<int>(step)], step == step_)) continue;
        step_ = step;
        own_choice_.reset();
        after_pass_ = -1;
      }
      ImGui::EndCombo();
    }
    ImGui::SetItemTooltip("Which step of the run");
    ImGui::SameLine();
    draw_pass_choice(plan, theme);
    ImGui::SameLine();
    const std::string count = fmt::format("{} of {}", shown_.size(), lines_.size());
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(count.c_str()).x -
                            theme.scaled(14));
    ImGui::InputTextWithHint("##search plan", "Search: kind, unit, module, buffer, stream", &query_);
    ImGui::SameLine();
    ImGui::TextDisabled("%s", count.c_str());
  }

  void draw_pass_choice(const StepPlan& plan, const Theme& theme) {
    ImGui::SetNextItemWidth(theme.scaled(190));
    const std::string shown =
        after_pass_ >= 0 && stood_ && static_cast<std::size_t>(after_pass_) < stood_->size()
            ? "as after " + (*stood_)[static_cast<std::size_t>(after_pass_)].pass
        : pass_ ? "by " + step_plan().passes[*pass_]
                : std::string("all passes");
    if (!begin_combo("##pass", shown.c_str(), ImGuiComboFlags_HeightLargest)) {
      ImGui::SetItemTooltip("Who put the instructions there, or how the plan stood after a pass");
      return;
    }
    if (ImGui::Selectable("all passes", !pass_ && after_pass_ < 0)) pass_.reset(), after_pass_ = -1;
    ImGui::SeparatorText("put there by");
    for (std::size_t i = 0; i < step_plan().passes.size(); ++i) {
      const std::string name = step_plan().passes[i] + "##by";
      if (ImGui::Selectable(name.c_str(), pass_ == i))
        pass_ = static_cast<std::uint16_t>(i), after_pass_ = -1;
    }
    if (step_ == StepChoice::steady) {
      ImGui::SeparatorText("as it stood after");
      stood_ = snapshots_.of(prediction_);
      for (std::size_t i = 0; stood_ && i < stood_->size(); ++i) {
        const std::string name = (*stood_)[i].pass + "##after";
        if (ImGui::Selectable(name.c_str(), after_pass_ == static_cast<int>(i)))
          after_pass_ = static_cast<int>(i), pass_.reset();
      }
      if (!stood_) ImGui::TextDisabled("planning ...");
    }
    ImGui::EndCombo();
    (void)plan;
  }

  void refresh(const StepPlan& plan) {
    const bool other_plan = lines_of_ != &plan || lines_prediction_ != prediction_;
    if (other_plan) {
      lines_ = view::plan_lines(plan);
      lines_of_ = &plan;
      lines_prediction_ = prediction_;
      if (pass_ && *pass_ >= plan.passes.size()) pass_.reset();
    }
    if (!other_plan && filtered_query_ == query_ && filtered_pass_ == pass_) return;
    filtered_query_ = query_;
    filtered_pass_ = pass_;
    shown_ = view::matching_lines(lines_, plan, {.query = query_, .pass = pass_, .kind = {}});
  }

  void draw_list(const StepPlan& plan, std::optional<InstructionId> chosen, float height,
                 PanelContext& context) {
    const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                  ImGuiTableFlags_Resizable | ImGuiTableFlags_BordersInnerH |
                                  ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_PadOuterX |
                                  ImGuiTableFlags_NoBordersInBody;
    if (!ImGui::BeginTable("instructions", 6, flags, {0, height})) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    const Theme& theme = context.theme;
    ImGui::TableSetupColumn("#", ImGuiTableColumnFlags_WidthFixed, theme.scaled(44));
    ImGui::TableSetupColumn("instruction", ImGuiTableColumnFlags_WidthStretch, 1.2F);
    ImGui::TableSetupColumn("stream", ImGuiTableColumnFlags_WidthFixed, theme.scaled(104));
    ImGui::TableSetupColumn("module", ImGuiTableColumnFlags_WidthStretch, 1.0F);
    ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, theme.scaled(72));
    ImGui::TableSetupColumn("live after", ImGuiTableColumnFlags_WidthFixed, theme.scaled(78));
    ImGui::TableHeadersRow();
    scroll_to_choice(chosen, context.session);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(shown_.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_line(plan, lines_[shown_[static_cast<std::size_t>(i)]], chosen, context);
    ImGui::EndTable();
  }

  void scroll_to_choice(std::optional<InstructionId> chosen, const Session& session) {
    const std::uint64_t changes = session.selection().instruction_changes();
    if (!chosen || changes == scrolled_to_) return;
    scrolled_to_ = changes;
    const auto at =
        std::find_if(shown_.begin(), shown_.end(), [&](std::uint32_t i) { return lines_[i].id == *chosen; });
    if (at == shown_.end()) return;
    const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    const float y = static_cast<float>(at - shown_.begin()) * row;
    ImGui::SetScrollY(std::max(0.0F, y - ImGui::GetWindowHeight() * 0.4F));
  }

  void draw_line(const StepPlan& plan, const view::PlanLine& line, std::optional<InstructionId> chosen,
                 PanelContext& context) {
    const Theme& theme = context.theme;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const std::string number = std::to_string(line.id.value);
    const ImGuiSelectableFlags spans = ImGuiSelectableFlags_SpanAllColumns;
    if (ImGui::Selectable(number.c_str(), chosen == line.id, spans)) choose(line.id, context.session);
    ImGui::TableNextColumn();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float size = theme.scaled(8);
    const float top = at.y + (ImGui::GetTextLineHeight() - size) / 2;
    const ImU32 colour = faded(colour_of(theme, plan.instruction(line.id).kind), ImGui::GetStyle().Alpha);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size}, colour,
                                              theme.scaled(2));
    ImGui::SetCursorScreenPos({at.x + size + theme.scaled(6), at.y});
    ImGui::TextUnformatted(line.label.c_str());
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", line.stream.c_str());
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", line.unit.c_str());
    ImGui::TableNextColumn();
    right_aligned(line.bytes);
    ImGui::TableNextColumn();
    right_aligned(line.live);
  }

  static void right_aligned(const std::string& text) {
    const float space = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
    if (space > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
    ImGui::TextUnformatted(text.c_str());
  }

  std::shared_ptr<const Prediction> prediction_;
  StepChoice step_ = StepChoice::steady;
  std::string query_;
  std::optional<std::uint16_t> pass_;  // only its instructions
  int after_pass_ = -1;                // the plan as it stood; -1: as it is
  PassSnapshots snapshots_;
  std::shared_ptr<const PassSnapshots::Snapshots> stood_;
  std::optional<InstructionId> own_choice_;
  std::uint64_t scrolled_to_ = 0;

  std::vector<view::PlanLine> lines_;
  const StepPlan* lines_of_ = nullptr;
  std::shared_ptr<const Prediction> lines_prediction_;
  std::vector<std::uint32_t> shown_;
  std::string filtered_query_;
  std::optional<std::uint16_t> filtered_pass_;
  PlanExplanation explanation_;
};

}  // namespace

std::unique_ptr<Panel> make_plan_panel() {
  return std::make_unique<PlanPanel>();
}

}  // namespace shardlab::gui
