// Fit: what a rank needs against what it has, by class and phase, what would lower it, and the figures of the
// step.
#include <fmt/format.h>

#include "engine/report/figures.h"
#include "gui/panels/fit/fit_bar.h"
#include "gui/panels/fit/fit_baseline.h"
#include "gui/panels/fit/fit_memory.h"
#include "gui/shell/follow_why.h"
#include "gui/view_model/memory/alternative_words.h"
#include "gui/view_model/memory/fit_view.h"
#include "gui/view_model/why.h"
#include "gui/widgets/data_grid.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

class FitPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "fit",
            .title = "Fit",
            .help = "Memory against capacity, by class and phase; speed",
            .area = DockArea::right,
            .rank = 0,
            .open = true,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_8};
  }

  void draw(PanelContext& context) override {
    const Session& session = context.session;
    if (!session.prediction()) {
      ImGui::TextDisabled(
          "%s", session.problem() ? "The scenario has a mistake: see its panel." : "No prediction yet.");
      return;
    }
    refresh(session.prediction(), ImGui::GetContentRegionAvail().x > context.theme.scaled(560));
    const DimWhenStale dim(session.stale());
    if (view_) {
      draw_verdict(context);
      draw_fit_bar(*view_, context.theme);
      draw_spare(context.theme);
      FitBaseline::draw_buttons(context.session);
      baseline_.draw(context);
      ImGui::Spacing();
      draw_phases(context);
    } else {
      ImGui::TextDisabled("This run recorded no memory.");
    }
    draw_alternatives(context);
    draw_figures(context);
    if (view_) memory_.draw(shown_, context);
    follow_why(why_.draw(context.theme), shown_->run.get(), context);
  }

 private:
  void refresh(const std::shared_ptr<const Prediction>& prediction, bool is_wide) {
    if (prediction == shown_ && is_wide == is_wide_) return;
    shown_ = prediction;
    is_wide_ = is_wide;
    view_ = view::make_fit_view(*prediction->run);
    table_ = view_ ? view::fit_table(*view_, is_wide) : view::DataTable{};
    price_ = view::price_words(prediction->planned, prediction->summary());
    ++version_;
  }

  void why(const char* metric, PanelContext& context) {
    why_button(metric, why_, context.theme,
               [&] { return view::why_metric(*shown_->run, metric, &shown_->planned); });
  }

  std::pair<const char*, ImU32> verdict_of(const Theme& theme) const {
    if (!view_->fits) return {"Capacity unknown", theme.dimmed};
    switch (*view_->fits) {
      case Fit::yes: return {"Fits", theme.good};
      case Fit::unsure: return {"Unsure", theme.fair};
      case Fit::no: break;
    }
    return {"Does not fit", theme.bad};
  }

  void draw_verdict(PanelContext& context) {
    const Theme& theme = context.theme;
    const auto [verdict, colour] = verdict_of(theme);
    ImGui::PushFont(theme.fonts.bold, 20);
    ImGui::TextColored(ImColor(colour), "%s", verdict);
    ImGui::PopFont();
    const std::string of = view_->capacity ? fmt::format("{} of {} a rank ({})", to_string(view_->needed),
                                                         to_string(*view_->capacity),
                                                         percent(static_cast<double>(view_->needed.value) /
                                                                 static_cast<double>(view_->capacity->value)))
                                           : to_string(view_->needed) + " a rank";
    ImGui::TextUnformatted(of.c_str());
    ImGui::SameLine();
    why(view_->on_device ? "peak_device" : "peak_allocated", context);
    if (view_->on_device) {
      ImGui::TextDisabled("%s of it live tensors,", to_string(view_->peak).c_str());
      ImGui::SameLine(0, theme.scaled(5));
    }
    ImGui::TextDisabled("highest in");
    ImGui::SameLine(0, theme.scaled(5));
    if (ImGui::TextLink(view_->peak_words.empty() ? view_->peak_label.c_str() : view_->peak_words.c_str()))
      context.session.choose(view_->peak_instruction);
    ImGui::SetItemTooltip("%s", view_->peak_label.c_str());
  }

  // What is left of the capacity, how likely steps run, and what is in the way.
  void draw_spare(const Theme& theme) const {
    const auto [verdict, colour] = verdict_of(theme);
    const bool fits = view_->fits == Fit::yes;
    const auto line = [&](const std::string& text, ImU32 its) {
      if (!text.empty()) ImGui::TextColored(ImColor(its), "%s", text.c_str());
    };
    ImGui::PushTextWrapPos(0);
    line(spare_words(*view_), fits ? theme.dimmed : colour);
    line(view_->reason, fits ? theme.dimmed : colour);
    line(likelihood_words(*view_), theme.dimmed);
    ImGui::PopTextWrapPos();
  }

  void draw_phases(PanelContext& context) {
    const auto swatch = [&](const view::Row& line) {
      return line.key < 0 ? 0 : colour_of(context.theme, static_cast<BufferClass>(line.key));
    };
    const GridEvents events = data_grid("by class and phase", table_, grid_,
                                        {.revision = version_,
                                         .size = {0, grid_height(table_.rows.size())},
                                         .swatch = swatch,
                                         .stretched = 0},
                                        context.theme);
    follow_why(events.answer, shown_->run.get(), context);
    ImGui::TextDisabled("highest in each phase");
    if (!ImGui::BeginTable("phases", 3, ImGuiTableFlags_SizingFixedFit)) return;
    for (const view::PhasePeak& phase : view_->phases) {
      if (!phase.instruction) continue;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(std::string(to_string(phase.phase)).c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(to_string(phase.bytes).c_str());
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(phase.phase));
      if (ImGui::TextLink(phase.words.c_str())) context.session.choose(*phase.instruction);
      ImGui::SetItemTooltip("%s", instruction_label(shown_->plan(), *phase.instruction).c_str());
      ImGui::PopID();
    }
    ImGui::EndTable();
  }

  // A click on a setting makes it.
  void draw_alternatives(PanelContext& context) {
    const std::vector<Alternative>& alternatives = context.session.alternatives();
    if (alternatives.empty() || context.session.stale()) return;
    ImGui::SeparatorText("With one key changed");
    for (const Alternative& each : alternatives) {
      const std::size_t equals = each.setting.find('=');
      if (ImGui::TextLink(each.setting.c_str()))
        context.session.set(each.setting.substr(0, equals), each.setting.substr(equals + 1));
      ImGui::SameLine();
      ImGui::PushTextWrapPos(0);
      ImGui::TextDisabled("%s", each.effect.c_str());
      ImGui::TextDisabled("    %s", view::alternative_words(each).c_str());
      ImGui::PopTextWrapPos();
    }
  }

  void draw_figures(PanelContext& context) {
    const RunSummary& summary = shown_->summary();
    ImGui::SeparatorText("Speed");
    if (ImGui::BeginTable("figures", 3, ImGuiTableFlags_SizingFixedFit)) {
      const auto line = [&](const char* name, const std::string& value, const char* metric) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextDisabled("%s", name);
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(value.c_str());
        ImGui::TableNextColumn();
        why(metric, context);
      };
      line("step time", to_string(summary.step_time.median), "step_time");
      line("tokens per second", rate(summary.tokens_per_second), "tokens_per_second");
      line("a rank", rate(summary.tokens_per_second_per_gpu), "tokens_per_second_per_gpu");
      if (summary.implementation) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextDisabled("operators");
        ImGui::TableNextColumn();
        const bool eager = *summary.implementation == Implementation::eager;
        ImGui::TextUnformatted(!eager             ? "fused, shardlab's own"
                               : summary.compiled ? "eager, as PyTorch's, compiled"
                                                  : "eager, as PyTorch's");
      }
      if (summary.mfu) line("MFU", percent(*summary.mfu), "mfu");
      const double share = static_cast<double>(summary.exposed_communication.value) /
                           static_cast<double>(std::max<std::int64_t>(summary.step_time.median.value, 1));
      line("exposed communication",
           share < 0 ? std::string("unknown")
                     : fmt::format("{} ({})", to_string(summary.exposed_communication), percent(share)),
           "exposed_communication");
      ImGui::EndTable();
    }
    if (!price_.empty()) {
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(price_.c_str());
      ImGui::PopTextWrapPos();
      ImGui::SetItemTooltip("For all GPUs of the cluster, by the middle of the range in Hardware");
    }
    ImGui::TextDisabled(summary.calibrated ? "calibrated on this machine"
                                           : "not calibrated: published figures");
    show_list("What the prediction assumes", summary.assumes);
    show_list("What the prediction leaves out", summary.leaves_out);
  }

  static void show_list(const char* title, const std::vector<std::string>& items) {
    if (items.empty() || !ImGui::TreeNode(title)) return;
    ImGui::PushTextWrapPos(0);
    for (const std::string& what : items) ImGui::BulletText("%s", what.c_str());
    ImGui::PopTextWrapPos();
    ImGui::TreePop();
  }

  std::shared_ptr<const Prediction> shown_;
  std::optional<view::FitView> view_;
  view::DataTable table_;
  std::string price_;
  DataGridState grid_;
  FitBaseline baseline_;
  FitMemory memory_;
  WhyPopup why_;
  std::uint64_t version_ = 0;
  bool is_wide_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_fit_panel() {
  return std::make_unique<FitPanel>();
}

}  // namespace shardlab::gui
