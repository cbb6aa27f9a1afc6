// Plan: the instructions of a step in the order the host issues them, searched and filtered; the chosen one
// in words.
#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "gui/panels/plan/plan_explanation.h"
#include "gui/session/pass_snapshots.h"
#include "gui/shell/follow_why.h"
#include "gui/view_model/plan_list.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

constexpr PlanPhase k_phases[] = {PlanPhase::setup, PlanPhase::first, PlanPhase::steady};  // to choose from

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
    follow_step(session.selection());
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
  // The step that somebody wants to be seen, once.
  void follow_step(const Selection& selection) {
    if (std::exchange(seen_steps_, selection.step_changes()) == selection.step_changes()) return;
    phase_ = selection.step().phase;
    after_pass_ = -1;
    pass_.reset();
    query_.clear();
    own_choice_ = selection.step().instruction;
    if (own_choice_ && own_choice_->index() >= step_plan().instructions.size()) own_choice_.reset();
    if (own_choice_) grid_.scroll_to = own_choice_->index();
  }

  const StepPlan& step_plan() const {
    const RunPlan& run = prediction_->planned.plan;
    const StepPlan* const wanted = run.find(phase_);
    return wanted != nullptr ? *wanted : run.steady;
  }

  const StepPlan& shown_plan() {
    if (after_pass_ < 0 || phase_ != PlanPhase::steady) return step_plan();
    const auto found = snapshots_.of(prediction_);
    if (found) stood_ = found;
    const bool there = stood_ && static_cast<std::size_t>(after_pass_) < stood_->size();
    return there ? (*stood_)[static_cast<std::size_t>(after_pass_)].plan : step_plan();
  }

  // The shared choice speaks of the steady plan; in the others a choice is the panel's own.
  std::optional<InstructionId> chosen_in(const Session& session) const {
    if (after_pass_ >= 0) return std::nullopt;
    return phase_ == PlanPhase::steady ? session.chosen() : own_choice_;
  }

  void choose(InstructionId id, Session& session) {
    if (phase_ == PlanPhase::steady && after_pass_ < 0) {
      session.choose(id);
      scrolled_to_ = session.selection().instruction_changes();  // it is where the click was
    } else {
      own_choice_ = id;
    }
  }

  void draw_filters(const StepPlan& plan, const Theme& theme) {
    ImGui::SetNextItemWidth(theme.scaled(90));
    if (begin_combo("##step", std::string(to_string(phase_)).c_str())) {
      for (const PlanPhase phase : k_phases) {
        if (!ImGui::Selectable(std::string(to_string(phase)).c_str(), phase == phase_)) continue;
        phase_ = phase;
        own_choice_.reset();
        after_pass_ = -1;
      }
      ImGui::EndCombo();
    }
    ImGui::SetItemTooltip("Which step of the run");
    ImGui::SameLine();
    draw_pass_choice(plan, theme);
    ImGui::SameLine();
    const std::string count = fmt::format("{} of {}", shown_.size(), table_.rows.size());
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(count.c_str()).x -
                            theme.scaled(14));
    ImGui::InputTextWithHint("##search plan", "Search: layer 3, backward, kind, module, buffer, stream",
                             &query_);
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
    if (phase_ == PlanPhase::steady) {
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
    const bool other_plan = table_of_.get() != &plan || table_prediction_ != prediction_;
    if (other_plan) {
      // It lives as long as what it belongs to.
      const bool is_snapshot = after_pass_ >= 0 && stood_ != nullptr && &plan != &step_plan();
      table_of_ = is_snapshot ? std::shared_ptr<const StepPlan>(stood_, &plan)
                              : std::shared_ptr<const StepPlan>(prediction_, &plan);
      table_prediction_ = prediction_;
      table_ = view::plan_table(table_of_);
      texts_.clear();
      if (pass_ && *pass_ >= plan.passes.size()) pass_.reset();
    }
    if (!other_plan && filtered_query_ == query_ && filtered_pass_ == pass_) return;
    filtered_query_ = query_;
    filtered_pass_ = pass_;
    if (!query_.empty() && texts_.empty()) texts_ = view::search_texts(plan);
    shown_ = view::matching_instructions(plan, texts_, {.query = query_, .pass = pass_});
    ++revision_;
  }

  void draw_list(const StepPlan& plan, std::optional<InstructionId> chosen, float height,
                 PanelContext& context) {
    scroll_to_choice(chosen, context.session);
    const GridEvents events =
        data_grid("instructions", table_, grid_,
                  {.revision = revision_,
                   .size = {0, height},
                   .is_chosen = [&](const view::Row& row) { return chosen && row.instruction == chosen; },
                   .swatch =
                       [&](const view::Row& row) {
                         return colour_of(context.theme, plan.instruction(*row.instruction).kind);
                       },
                   .swatch_column = 1,
                   .stretched = 1,
                   .only = &shown_},
                  context.theme);
    if (events.click) choose(*table_.rows[events.click->row].instruction, context.session);
    follow_why(events.answer, prediction_->run.get(), context);
  }

  void scroll_to_choice(std::optional<InstructionId> chosen, const Session& session) {
    const std::uint64_t changes = session.selection().instruction_changes();
    if (!chosen || changes == scrolled_to_) return;
    scrolled_to_ = changes;
    grid_.scroll_to = chosen->index();
  }

  std::shared_ptr<const Prediction> prediction_;
  PlanPhase phase_ = PlanPhase::steady;
  std::string query_;
  std::optional<std::uint16_t> pass_;  // only its instructions
  int after_pass_ = -1;                // the plan as it stood; -1: as it is
  PassSnapshots snapshots_;
  std::shared_ptr<const PassSnapshots::Snapshots> stood_;
  std::optional<InstructionId> own_choice_;
  std::uint64_t scrolled_to_ = 0;
  std::uint64_t seen_steps_ = 0;

  view::DataTable table_;
  std::shared_ptr<const StepPlan> table_of_;
  std::shared_ptr<const Prediction> table_prediction_;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> shown_;
  std::string filtered_query_;
  std::optional<std::uint16_t> filtered_pass_;
  std::uint64_t revision_ = 0;
  DataGridState grid_;
  PlanExplanation explanation_;
};

}  // namespace

std::unique_ptr<Panel> make_plan_panel() {
  return std::make_unique<PlanPanel>();
}

}  // namespace shardlab::gui
