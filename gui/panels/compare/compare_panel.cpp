// Compare: any two or more runs: totals, memory by class, time by kind and unit, and which instructions are
// to blame.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gui/panels/compare/scatter_plot.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/run_why.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/tab.h"

namespace shardlab::gui {
namespace {

class ComparePanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "compare",
            .title = "Compare",
            .help = "Predicted against measured: totals, classes, kinds, units, the worst instructions",
            .area = DockArea::centre,
            .rank = 30,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_3};
  }

  void draw(PanelContext& context) override {
    refresh(context.session);
    if (runs_.size() < 2) {
      empty_state("Two runs are needed to compare",
                  "The prediction of the open scenario is one. Choose stored runs in Runs, or start a real "
                  "run in Run monitor.",
                  context.theme);
      return;
    }
    const DimWhenStaleRun dim(context.session, runs_);
    draw_reference(context.theme);
    if (!ImGui::BeginTabBar("parts")) return;
    draw_tab(context, "Totals", 0, comparison_.totals);
    draw_tab(context, "Memory", 1, comparison_.classes);
    draw_tab(context, "Kinds", 2, comparison_.kinds);
    draw_tab(context, "Units", 3, comparison_.units);
    if (begin_tab("Instructions")) {
      draw_instructions(context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  // A comparison with a prediction that is no more is faint as a whole: every error in it is old.
  class DimWhenStaleRun {
   public:
    DimWhenStaleRun(Session& session, const std::vector<view::LoadedRunPtr>& runs)
        : dimmed_(std::any_of(runs.begin(), runs.end(),
                              [&](const auto& run) { return is_stale(session, run); })) {
      if (dimmed_) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * 0.45F);
    }
    ~DimWhenStaleRun() {
      if (dimmed_) ImGui::PopStyleVar();
    }
    DimWhenStaleRun(const DimWhenStaleRun&) = delete;
    DimWhenStaleRun& operator=(const DimWhenStaleRun&) = delete;

   private:
    bool dimmed_;
  };

  void refresh(Session& session) {
    std::vector<view::LoadedRunPtr> runs = session.shown_runs();
    if (runs != runs_) {
      runs_ = std::move(runs);
      reference_ = runs_.size() < 2 ? 0 : view::choose_reference(runs_);
      made_ = false;
    }
    if (made_ || runs_.size() < 2) return;
    comparison_ = compare_runs(runs_, reference_);
    made_ = true;
    ++revision_;
  }

  void draw_reference(const Theme& theme) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "errors against");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(theme.scaled(220));
    if (ImGui::BeginCombo("##reference", comparison_.titles[reference_].c_str())) {
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        if (!ImGui::Selectable(comparison_.titles[i].c_str(), i == reference_)) continue;
        reference_ = i;
        made_ = false;
      }
      ImGui::EndCombo();
    }
    if (comparison_.note.empty()) return;
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.fair), "%s", comparison_.note.c_str());
    ImGui::PopTextWrapPos();
  }

  void draw_tab(PanelContext& context, const char* title, std::size_t index, const view::DataTable& table) {
    if (!begin_tab(title)) return;
    copy_csv_button(title, table);
    ImGui::SameLine();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(context.theme.dimmed),
                       index < 2 ? "a right click on a number says why"
                                 : "time on its stream in a step; a right click says of what");
    const GridEvents events = data_grid(title, table, states_[index], {.revision = revision_}, context.theme);
    follow_why(events.answer, runs_[reference_].get(), context);
    ImGui::EndTabItem();
  }

  void draw_instructions(PanelContext& context) {
    if (comparison_.points.empty()) {
      empty_state("No instructions in common", "Runs of one plan are compared instruction by instruction.",
                  context.theme);
      return;
    }
    const view::LoadedRun& reference = *runs_[reference_];
    constexpr std::array<const char*, 2> k_forms = {"error over time", "time against time"};
    ImGui::SetNextItemWidth(context.theme.scaled(160));
    ImGui::Combo("##form", &form_, k_forms.data(), static_cast<int>(k_forms.size()));
    ImGui::SameLine();
    if (ImGui::Button("Save PNG")) context.pictures.push_back({plot_min_, plot_max_, "errors"});
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    copy_csv_button("worst", comparison_.worst);
    const float height = std::max(context.theme.scaled(160), ImGui::GetContentRegionAvail().y * 0.5F);
    const ScatterResult scatter = draw_scatter(
        comparison_, static_cast<ScatterForm>(form_), chosen_in(context.session, reference),
        [&](InstructionId id) { return instruction_label(reference.plan(), id); }, {-1, height},
        context.theme);
    plot_min_ = scatter.min;
    plot_max_ = scatter.max;
    named_area("scatter", plot_min_, plot_max_);
    if (scatter.clicked) choose_in(context.session, reference, *scatter.clicked);
    if (scatter.asked) why_.ask(why_time(*runs_[scatter.asked->run], scatter.asked->instruction));
    follow_why(why_.draw(context.theme), &reference, context);
    draw_worst(context, reference);
  }

  void draw_worst(PanelContext& context, const view::LoadedRun& reference) {
    const auto chosen = chosen_in(context.session, reference);
    if (context.session.selection().instruction_changes() != seen_changes_) {
      seen_changes_ = context.session.selection().instruction_changes();
      const auto row = std::find_if(comparison_.worst.rows.begin(), comparison_.worst.rows.end(),
                                    [&](const view::Row& each) { return each.instruction == chosen; });
      if (chosen && row != comparison_.worst.rows.end())
        worst_state_.scroll_to = static_cast<std::size_t>(row - comparison_.worst.rows.begin());
    }
    const GridEvents events =
        data_grid("worst", comparison_.worst, worst_state_,
                  {.revision = revision_,
                   .is_chosen = [&](const view::Row& row) { return chosen && row.instruction == chosen; }},
                  context.theme);
    if (events.click)
      choose_in(context.session, reference, *comparison_.worst.rows[events.click->row].instruction);
    follow_why(events.answer, &reference, context);
  }

  std::vector<view::LoadedRunPtr> runs_;
  std::size_t reference_ = 0;
  bool made_ = false;
  view::RunComparison comparison_;
  std::uint64_t revision_ = 0;
  std::array<DataGridState, 4> states_;
  DataGridState worst_state_;
  int form_ = 0;
  ImVec2 plot_min_{0, 0}, plot_max_{1, 1};
  WhyPopup why_;  // of a point
  std::uint64_t seen_changes_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_compare_panel() {
  return std::make_unique<ComparePanel>();
}

}  // namespace shardlab::gui
