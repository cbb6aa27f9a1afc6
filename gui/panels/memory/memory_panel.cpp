// Memory: what every shown run holds over the step, by class; what is alive at the chosen instruction.
#include <fmt/format.h>

#include <algorithm>

#include "gui/panels/memory/memory_details.h"
#include "gui/panels/memory/memory_plot.h"
#include "gui/panels/memory/space_plot.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/view_model/latest.h"
#include "gui/view_model/run_titles.h"
#include "gui/view_model/why.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/word_link.h"

namespace shardlab::gui {
namespace {

struct ShownMemory {
  view::LoadedRunPtr run;
  view::MemoryTrack track;
};

class MemoryPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "memory",
            .title = "Memory",
            .help = "Memory over the step by class, against capacity; what is alive when",
            .area = DockArea::centre,
            .rank = 20,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_2};
  }

  bool busy() const override { return making_.busy(); }
  void update(PanelContext&) override { making_.poll(); }

  void draw(PanelContext& context) override {
    refresh(context.session);
    if (making_.failure()) return failure_state(*making_.failure(), context.theme);
    if (!runs_.empty() && !making_.value()) {
      ImGui::TextDisabled("Reading ...");
      return;
    }
    if (runs_.empty() || shown().empty()) {
      no_prediction_state(
          context.session, "No memory to show yet",
          "Open a scenario: its predicted memory appears here. Runs that recorded memory can be "
          "added in Runs.",
          context.theme);
      return;
    }
    draw_toolbar(context);
    const float below = ImGui::GetContentRegionAvail().y * share_of_buffers();
    draw_plots(context, below);
    if (show_alive_) details_.draw(shown().front().run, context);
  }

 private:
  // Tracks are made once a run and clock, on a thread: a step may have fifty thousand samples.
  struct Made {
    std::vector<view::LoadedRunPtr> runs;
    std::vector<ShownMemory> shown;
    Nanoseconds end;
    double top = 1;  // bytes at the upper end of every plot's axis
  };

  static void add_run(Made& made, const view::LoadedRunPtr& run, const std::string& name,
                      view::MemoryClock clock) {
    const StepTrace* const step = typical_step(*run);
    const int rank = run->record.summary.memory ? run->record.summary.memory->peak_rank : 0;
    const RankTrace* const trace = step == nullptr ? nullptr : view::rank_of(*step, rank);
    if (trace == nullptr || trace->memory.empty()) return;
    std::string title = fmt::format("{}, step {}", name, step->step);
    if (step->ranks.size() > 1) title += fmt::format(", rank {}", trace->rank);
    if (view::begins_unknown(run->record.trace.provenance))
      title += ", above what was there before (unknown)";
    made.shown.push_back({run, view::make_memory_track(title, run->kind(), run->plan(), *trace,
                                                       run->record.summary.memory_limit, clock)});
    view::MemoryTrack& track = made.shown.back().track;
    track.begins_unknown = view::begins_unknown(run->record.trace.provenance);
    if (run->record.summary.memory) track.in_use = run->record.summary.memory->peak_device;
    made.end = std::max(made.end, track.end);
    const double peak = static_cast<double>(track.peak ? track.peaks[*track.peak] : 0);
    made.top = std::max(made.top, peak * 1.15);
    // The capacity is shown where it does not make the curve flat.
    if (track.capacity && static_cast<double>(track.capacity->value) < peak * 3)
      made.top = std::max(made.top, static_cast<double>(track.capacity->value) * 1.08);
  }

  void refresh(Session& session) {
    std::vector<view::LoadedRunPtr> runs = session.shown_runs();
    if (runs == runs_ && clock_ == made_for_clock_) return;
    runs_ = std::move(runs);
    made_for_clock_ = clock_;
    if (runs_.empty()) return;
    making_.want([runs = runs_, clock = static_cast<view::MemoryClock>(clock_)] {
      Made made{runs, {}, {}, 1};
      const std::vector<std::string> names = view::titles_of(runs);
      for (std::size_t i = 0; i < runs.size(); ++i) add_run(made, runs[i], names[i], clock);
      return made;
    });
  }

  const std::vector<ShownMemory>& shown() const { return making_.value()->shown; }
  // Several charts need the room more than the list below them, which scrolls.
  float share_of_buffers() const {
    if (!show_alive_) return 0;
    return shown().size() > 1 ? 0.25F : 0.35F;
  }
  double top() const { return making_.value()->top; }

  void draw_toolbar(PanelContext& context) {
    if (ImGui::Button("Whole step")) show_whole_step(context.session);
    ImGui::SameLine();
    if (ImGui::Button(show_alive_ ? "Hide buffers" : "Show buffers")) show_alive_ = !show_alive_;
    ImGui::SameLine();
    ImGui::SetNextItemWidth(context.theme.scaled(130));
    constexpr const char* k_clocks[] = {"host clock", "device clock"};
    ImGui::Combo("##clock", &clock_, k_clocks, 2);
    name_last_item("##clock");
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip(
          "Memory is taken when the host issues an instruction. On a GPU that is far ahead of the "
          "device,\nso the device's clock places it beside the lanes of the timeline.");
    ImGui::SameLine();
    if (ImGui::Button("Save PNG")) context.pictures.push_back({plots_min_, plots_max_, "memory"});
    draw_legend(context.theme);
  }

  // The classes of all shown runs, as far as there is room beside the buttons; then below them.
  void draw_legend(const Theme& theme) {
    const auto far = std::find_if(shown().begin(), shown().end(), [this](const ShownMemory& each) {
      return each.track.capacity && static_cast<double>(each.track.capacity->value) > top();
    });
    std::vector<BufferClass> classes;
    for (const ShownMemory& each : shown()) {
      for (const BufferClass one : each.track.classes)
        if (is_visible(each.track, one) && std::find(classes.begin(), classes.end(), one) == classes.end())
          classes.push_back(one);
    }
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x;
    for (const BufferClass each : classes) {
      const std::string name = class_name(each);
      const float width =
          theme.scaled(10) + ImGui::GetStyle().ItemInnerSpacing.x + ImGui::CalcTextSize(name.c_str()).x;
      ImGui::SameLine(0, theme.scaled(14));
      if (ImGui::GetCursorScreenPos().x + width > right) ImGui::NewLine();
      class_chip(each, ImGui::GetFrameHeight(), theme);
      ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
      ImGui::AlignTextToFramePadding();
      ImGui::TextUnformatted(name.c_str());
      word_tip(name, {}, theme);
    }
    if (far == shown().end()) return;
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "capacity %s, far above the plot",
                       to_string(*far->track.capacity).c_str());
  }

  // What is too little to be seen has no place in the legend; the tooltip tells it.
  bool is_visible(const view::MemoryTrack& track, BufferClass buffer_class) const {
    constexpr double k_least_share = 0.004;
    return std::any_of(track.samples.begin(), track.samples.end(), [&](const MemorySample& sample) {
      return static_cast<double>(sample.by_class_at_peak[static_cast<std::size_t>(buffer_class)].value) >
             k_least_share * top();
    });
  }

  void draw_plots(PanelContext& context, float below) {
    const float room = ImGui::GetContentRegionAvail().y - below - ImGui::GetStyle().ItemSpacing.y;
    const float least = context.theme.scaled(105);
    float others = 0;
    for (const ShownMemory& each : shown()) others += space_plot_height(each.track, context.theme);
    const float height = std::max(
        least, (room - others) / static_cast<float>(shown().size()) - ImGui::GetStyle().ItemSpacing.y);
    if (ImGui::BeginChild("plots", {0, room})) {
      SharedTime time(context.session, making_.value()->end);
      ImPlot::PushStyleVar(ImPlotStyleVar_PlotPadding,
                           ImVec2(context.theme.scaled(26), context.theme.scaled(4)));
      plots_min_ = ImGui::GetCursorScreenPos();
      for (const ShownMemory& each : shown()) draw_one(context, each, time, height);
      plots_max_ = {plots_min_.x + ImGui::GetContentRegionAvail().x, ImGui::GetCursorScreenPos().y};
      ImPlot::PopStyleVar();
      time.share(context.session);
      follow_why(why_.draw(context.theme), why_run_.get(), context);
    }
    ImGui::EndChild();
  }

  void draw_one(PanelContext& context, const ShownMemory& each, SharedTime& time, float height) {
    const bool old = making_.value()->runs != runs_ || is_stale(context.session, each.run);
    const float opacity = old ? 0.45F : 1;
    const MemoryPlot plot{*each.run,
                          each.track,
                          top(),
                          opacity,
                          chosen_in(context.session, *each.run),
                          height,
                          parse_word<BufferClass>(context.session.selection().highlight())};
    const MemoryPlotResult result = draw_memory_plot(plot, time, context.plot_edges, context.theme, scratch_);
    draw_space_plot(plot, scratch_, time, context.plot_edges, context.theme);
    named_area(("memory of " + title_of(*each.run)).c_str(), result.min, result.max);
    if (result.clicked)
      choose_in(context.session, *each.run, each.track.samples[*result.pointed].instruction);
    if (!result.asked) return;
    why_.ask(view::why_memory(*each.run, each.track.samples[*result.pointed]));
    why_run_ = each.run;
  }

  std::vector<view::LoadedRunPtr> runs_;
  view::Latest<Made> making_;
  int clock_ = static_cast<int>(view::MemoryClock::device), made_for_clock_ = -1;
  bool show_alive_ = true;
  view::StackedMemory scratch_;
  ImVec2 plots_min_{0, 0}, plots_max_{1, 1};
  WhyPopup why_;
  view::LoadedRunPtr why_run_;
  MemoryDetails details_;
};

}  // namespace

std::unique_ptr<Panel> make_memory_panel() {
  return std::make_unique<MemoryPanel>();
}

}  // namespace shardlab::gui
