// Compare: any two or more runs: totals, memory by class, time by kind and unit, and which instructions are
// to blame.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gui/panels/compare/scatter_plot.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/latest.h"
#include "gui/view_model/why.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/stale.h"

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

  bool busy() const override { return making_.busy(); }
  void update(PanelContext&) override { making_.poll(); }

  void draw(PanelContext& context) override {
    refresh(context.session);
    if (wanted_.size() < 2) {
      empty_state("Two runs are needed to compare",
                  "The prediction of the open scenario is one. Choose stored runs in Runs, or start a real "
                  "run in Run monitor.",
                  context.theme);
      return;
    }
    if (making_.failure()) return failure_state(*making_.failure(), context.theme);
    if (!made_) {
      ImGui::TextDisabled("Comparing ...");
      return;
    }
    // Faint as a whole: with a prediction that is no more, or of runs chosen before, every error in it is
    // old.
    const DimWhenStale dim(made_->runs != wanted_ || any_stale(context.session));
    draw_reference(context.theme);
    if (!ImGui::BeginTabBar("parts", ImGuiTabBarFlags_DrawSelectedOverline)) return;
    draw_tab(context, "Totals", 0, comparison().totals);
    draw_tab(context, "Memory", 1, comparison().classes);
    draw_tab(context, "Kinds", 2, comparison().kinds);
    draw_tab(context, "Units", 3, comparison().units);
    if (begin_tab("Instructions")) {
      draw_instructions(context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  // Made on a thread: runs of many steps have millions of spans.
  struct Made {
    std::vector<view::LoadedRunPtr> runs;
    view::RunComparison comparison;
  };

  bool any_stale(Session& session) const {
    return std::any_of(made_->runs.begin(), made_->runs.end(),
                       [&](const auto& run) { return is_stale(session, run); });
  }

  void refresh(Session& session) {
    std::vector<view::LoadedRunPtr> runs = session.compared_runs();
    if (runs != wanted_) {
      wanted_ = std::move(runs);
      wanted_reference_ = wanted_.size() < 2 ? 0 : view::choose_reference(wanted_);
      asked_ = false;
    }
    if (wanted_.size() < 2) {
      made_ = nullptr;
      return;
    }
    if (made_ != making_.value()) {
      // Columns of other runs are as wide as these runs need, not as those before them did.
      const auto& other = making_.value();
      const bool are_same = made_ && other && made_->comparison.titles == other->comparison.titles;
      if (!are_same) states_ = {};
      made_ = other;
      ++revision_;
    }
    if (asked_) return;
    asked_ = true;
    making_.want([runs = wanted_, reference = wanted_reference_] {
      return Made{runs, view::compare_runs(runs, reference)};
    });
  }

  const view::RunComparison& comparison() const { return made_->comparison; }
  const view::LoadedRun& reference() const { return *made_->runs[comparison().reference]; }

  void draw_reference(const Theme& theme) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "against");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(theme.scaled(220));
    if (ImGui::BeginCombo("##reference", comparison().titles[comparison().reference].c_str())) {
      for (std::size_t i = 0; i < made_->runs.size(); ++i) {
        if (!ImGui::Selectable(comparison().titles[i].c_str(), i == comparison().reference)) continue;
        if (made_->runs != wanted_) continue;
        wanted_reference_ = i;
        asked_ = false;
      }
      ImGui::EndCombo();
    }
    if (comparison().titles.size() > k_few) {
      ImGui::SameLine();
      ImGui::Checkbox("differences", &with_differences_);
      ImGui::SetItemTooltip("How far each is from %s, in columns of their own",
                            comparison().titles[comparison().reference].c_str());
    }
    if (comparison().note.empty()) return;
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.fair), "%s", comparison().note.c_str());
    ImGui::PopTextWrapPos();
  }

  void draw_tab(PanelContext& context, const char* title, std::size_t index, const view::DataTable& table) {
    if (!begin_tab(title)) return;
    copy_csv_button(title, table);
    ImGui::SameLine();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(context.theme.dimmed),
                       index < 2 ? "a right click on a number says why"
                                 : "time on its stream in a step; a right click says of what");
    const GridEvents events = data_grid(title, table, states_[index],
                                        {.revision = revision_, .columns = columns_shown()}, context.theme);
    follow_why(events.answer, &reference(), context);
    ImGui::EndTabItem();
  }

  // The figures of many runs need the room: how they differ is shown on request.
  std::size_t columns_shown() const {
    const std::size_t runs = comparison().titles.size();
    return runs > k_few && !with_differences_ ? 1 + runs : SIZE_MAX;
  }

  void draw_instructions(PanelContext& context) {
    if (comparison().points.empty()) {
      empty_state("No instructions in common", "Runs of one plan are compared instruction by instruction.",
                  context.theme);
      return;
    }
    const view::LoadedRun& base = reference();
    constexpr std::array<const char*, 2> k_forms = {"error over time", "time against time"};
    ImGui::SetNextItemWidth(context.theme.scaled(160));
    ImGui::Combo("##form", &form_, k_forms.data(), static_cast<int>(k_forms.size()));
    ImGui::SameLine();
    if (ImGui::Button("Save PNG")) context.pictures.push_back({plot_min_, plot_max_, "errors"});
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    copy_csv_button("worst", comparison().worst);
    const float height = std::max(context.theme.scaled(160), ImGui::GetContentRegionAvail().y * 0.5F);
    const ScatterResult scatter = draw_scatter(
        comparison(), static_cast<ScatterForm>(form_), chosen_in(context.session, base),
        [&](InstructionId id) { return label_of(base, id); }, {-1, height}, context.theme);
    plot_min_ = scatter.min;
    plot_max_ = scatter.max;
    named_area("scatter", plot_min_, plot_max_);
    if (scatter.clicked) choose_in(context.session, base, *scatter.clicked);
    if (scatter.asked) why_.ask(why_time(*made_->runs[scatter.asked->run], scatter.asked->instruction));
    follow_why(why_.draw(context.theme), &base, context);
    draw_worst(context, base);
  }

  void draw_worst(PanelContext& context, const view::LoadedRun& base) {
    const auto chosen = chosen_in(context.session, base);
    if (context.session.selection().instruction_changes() != seen_changes_) {
      seen_changes_ = context.session.selection().instruction_changes();
      const auto row = std::find_if(comparison().worst.rows.begin(), comparison().worst.rows.end(),
                                    [&](const view::Row& each) { return each.instruction == chosen; });
      if (chosen && row != comparison().worst.rows.end())
        worst_state_.scroll_to = static_cast<std::size_t>(row - comparison().worst.rows.begin());
    }
    const GridEvents events =
        data_grid("worst", comparison().worst, worst_state_,
                  {.revision = revision_,
                   .is_chosen = [&](const view::Row& row) { return chosen && row.instruction == chosen; }},
                  context.theme);
    if (events.click)
      choose_in(context.session, base, *comparison().worst.rows[events.click->row].instruction);
    follow_why(events.answer, &base, context);
  }

  std::vector<view::LoadedRunPtr> wanted_;
  std::size_t wanted_reference_ = 0;
  bool asked_ = false;  // for what is wanted
  view::Latest<Made> making_;
  std::shared_ptr<const Made> made_;
  std::uint64_t revision_ = 0;
  std::array<DataGridState, 4> states_;
  DataGridState worst_state_;
  static constexpr std::size_t k_few = 2;
  bool with_differences_ = false;  // of more runs than a few
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
