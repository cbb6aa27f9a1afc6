// Timeline: streams as lanes, every shown run below the other on one time axis.
#include <fmt/format.h>
#include <implot.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/timeline/jump_bar.h"
#include "gui/panels/timeline/track_drawing.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/shell/shared_time.h"
#include "gui/view_model/latest.h"
#include "gui/view_model/run_titles.h"
#include "gui/view_model/timeline/compute_gaps.h"
#include "gui/view_model/why.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/word_link.h"

namespace shardlab::gui {
namespace {

constexpr float k_lane_height = 44, k_least_lane_height = 16;

struct ShownTrack {
  view::LoadedRunPtr run;
  const StepTrace* step = nullptr;  // the run's, and the rank that is shown
  const RankTrace* rank = nullptr;
  view::TimelineTrack track;
};

struct Hit {
  const ShownTrack* shown = nullptr;
  view::LaneSpan span;
  bool issues = false;  // of the host's lane
};

class TimelinePanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "timeline",
            .title = "Timeline",
            .help = "Streams over time: waits, exposed communication, predicted above measured",
            .area = DockArea::bottom,
            .rank = 10,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_1};
  }

  bool busy() const override { return making_.busy(); }
  void update(PanelContext&) override {
    if (making_.poll()) ++made_revision_;
  }

  void draw(PanelContext& context) override {
    refresh(context.session);
    if (making_.failure()) return failure_state(*making_.failure(), context.theme);
    if (!runs_.empty() && !making_.value()) {
      ImGui::TextDisabled("Reading ...");
      return;
    }
    if (runs_.empty() || tracks().empty()) {
      no_prediction_state(
          context.session, "Nothing to show yet",
          "Open a scenario: its prediction appears here. Choose runs in Runs to see them below it.",
          context.theme);
      return;
    }
    draw_toolbar(context);
    draw_plot(context);
  }

 private:
  // Tracks are made once a run and rank, on a thread: a step may have a hundred thousand spans.
  struct Made {
    std::vector<view::LoadedRunPtr> runs;
    std::vector<ShownTrack> tracks;
    Nanoseconds end;
    int ranks = 1;
  };

  static Made make_tracks(const std::vector<view::LoadedRunPtr>& runs, int wanted_rank) {
    Made made{runs, {}, {}, 1};
    const std::vector<std::string> names = view::titles_of(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const view::LoadedRunPtr& run = runs[i];
      const StepTrace& step = *typical_step(*run);
      const RankTrace* const rank = view::rank_of(step, wanted_rank);
      if (rank == nullptr) continue;
      made.ranks = std::max(made.ranks, static_cast<int>(step.ranks.size()));
      std::string title = fmt::format("{}, step {}", names[i], step.step);
      if (step.ranks.size() > 1) title += fmt::format(", rank {}", rank->rank);
      made.tracks.push_back(
          {run, &step, rank, view::make_track(title, run->kind(), run->plan(), run->words(), *rank)});
      made.end = std::max(made.end, made.tracks.back().track.end);
    }
    return made;
  }

  void refresh(Session& session) {
    std::vector<view::LoadedRunPtr> runs = session.shown_runs();
    std::erase_if(runs, [](const view::LoadedRunPtr& run) { return typical_step(*run) == nullptr; });
    if (runs == runs_ && rank_ == made_for_rank_) return;
    runs_ = std::move(runs);
    made_for_rank_ = rank_;
    if (!runs_.empty()) making_.want([runs = runs_, rank = rank_] { return make_tracks(runs, rank); });
  }

  const std::vector<ShownTrack>& tracks() const { return making_.value()->tracks; }
  Nanoseconds end() const { return making_.value()->end; }

  void draw_toolbar(PanelContext& context) {
    if (ImGui::Button("Whole step")) show_whole_step(context.session);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(context.theme.scaled(150));
    constexpr const char* k_colours[] = {"coloured by unit", "coloured by kind"};
    ImGui::Combo("##colours", &colours_, k_colours, 2);
    if (making_.value()->ranks > 1) {
      ImGui::SameLine();
      ImGui::SetNextItemWidth(context.theme.scaled(100));
      if (ImGui::BeginCombo("##rank", fmt::format("rank {}", rank_).c_str())) {
        for (int i = 0; i < making_.value()->ranks; ++i)
          if (ImGui::Selectable(fmt::format("rank {}", i).c_str(), i == rank_)) rank_ = i;
        ImGui::EndCombo();
      }
    }
    ImGui::SameLine();
    if (ImGui::Button("Save PNG")) context.pictures.push_back({plot_min_, plot_max_, "timeline"});
    same_line_if_wide(390, context.theme);
    draw_jumps(context);
    same_line_if_wide(210, context.theme);
    draw_legend(context.theme);
  }

  // Goes on in the line where it has so much room, else in the next one.
  static void same_line_if_wide(float width, const Theme& theme) {
    ImGui::SameLine(0, theme.scaled(14));
    if (ImGui::GetContentRegionAvail().x < theme.scaled(width)) ImGui::NewLine();
  }

  void draw_jumps(PanelContext& context) {
    const ShownTrack& first = tracks().front();
    const auto place = jumps_.draw(*first.run, first.track, made_revision_, context.theme);
    if (place) show_place(context.session, *place, end());
  }

  static void draw_legend(const Theme& theme) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float wide = theme.scaled(16), high = theme.scaled(4);
    const float top = at.y + (ImGui::GetFrameHeight() - high) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + wide, top + high}, theme.bad);
    ImGui::Dummy({wide, ImGui::GetFrameHeight()});
    ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("exposed communication");
    word_tip("exposed communication", "Red above compute: it stands still and waits for communication",
             theme);
  }

  void draw_plot(PanelContext& context) {
    const Theme& theme = context.theme;
    int rows = 0;
    for (const ShownTrack& each : tracks()) rows += rows_of(each.track);
    const float axis = theme.scaled(34);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float lane = std::clamp((room.y - axis) / static_cast<float>(rows),
                                  theme.scaled(k_least_lane_height), theme.scaled(k_lane_height));
    if (!ImGui::BeginChild("tracks", {0, 0})) {
      ImGui::EndChild();
      return;
    }
    SharedTime time(context.session, end());
    follow_choice(context.session);
    ImPlot::PushStyleVar(ImPlotStyleVar_PlotPadding, ImVec2(theme.scaled(26), theme.scaled(4)));
    AlignedPlot aligned(context.plot_edges);
    if (ImPlot::BeginPlot("##timeline", {aligned.width(), lane * static_cast<float>(rows) + axis},
                          ImPlotFlags_NoLegend | ImPlotFlags_NoFrame | ImPlotFlags_NoMenus |
                              ImPlotFlags_NoMouseText | ImPlotFlags_NoBoxSelect)) {
      time.set_up_axis(aligned.label_room());
      set_up_rows(rows);
      ImPlot::SetupFinish();
      aligned.measure();
      draw_tracks(context, time);
      plot_min_ = ImPlot::GetPlotPos();
      plot_max_ = {plot_min_.x + ImPlot::GetPlotSize().x, plot_min_.y + ImPlot::GetPlotSize().y};
      point_and_click(context, time);
      ImPlot::EndPlot();
      named_area("timeline plot", plot_min_, plot_max_);
    }
    ImPlot::PopStyleVar();
    time.share(context.session);
    follow_why(why_.draw(context.theme), why_run_.get(), context);
    ImGui::EndChild();
  }

  void set_up_rows(int rows) {
    tick_places_.clear();
    tick_names_.clear();
    int row = 0;
    for (const ShownTrack& each : tracks()) {
      const int above = rows_above_lanes(each.track);
      if (above > 1) {
        tick_places_.push_back(row + 1.5);
        tick_names_.push_back("step");
      }
      for (std::size_t i = 0; i < each.track.lanes.size(); ++i) {
        tick_places_.push_back(row + above + 0.5 + static_cast<double>(i));
        tick_names_.push_back(each.track.lanes[i].name.c_str());
      }
      row += rows_of(each.track);
    }
    ImPlot::SetupAxis(ImAxis_Y1, nullptr,
                      ImPlotAxisFlags_Lock | ImPlotAxisFlags_Invert | ImPlotAxisFlags_NoGridLines |
                          ImPlotAxisFlags_NoTickMarks | ImPlotAxisFlags_NoHighlight);
    ImPlot::SetupAxisLimits(ImAxis_Y1, 0, rows, ImPlotCond_Always);
    ImPlot::SetupAxisTicks(ImAxis_Y1, tick_places_.data(), static_cast<int>(tick_places_.size()),
                           tick_names_.data());
  }

  view::TimeScale scale() const {
    const ImPlotRect limits = ImPlot::GetPlotLimits();
    return {limits.X.Min, limits.X.Max, static_cast<double>(ImPlot::GetPlotSize().x)};
  }

  void draw_tracks(PanelContext& context, const SharedTime&) {
    int row = 0;
    for (const ShownTrack& each : tracks()) {
      const bool old = making_.value()->runs != runs_ || is_stale(context.session, each.run);
      const float opacity = old ? 0.45F : 1;
      draw_track({each.track, *each.run, row, opacity, static_cast<SpanColours>(colours_),
                  chosen_in(context.session, *each.run)},
                 scale(), context.theme, scratch_);
      row += rows_of(each.track);
    }
  }

  std::optional<Hit> hit_at(double y, double time, double slack) const {
    int row = 0;
    for (const ShownTrack& each : tracks()) {
      const int lane = static_cast<int>(std::floor(y)) - row - rows_above_lanes(each.track);
      if (lane >= 0 && lane < static_cast<int>(each.track.lanes.size())) {
        const view::Lane& found = each.track.lanes[static_cast<std::size_t>(lane)];
        const auto span = hit_span(found, time, slack);
        if (!span) return std::nullopt;
        return Hit{&each, found.spans[*span], found.issues};
      }
      row += rows_of(each.track);
    }
    return std::nullopt;
  }

  void point_and_click(PanelContext& context, const SharedTime&) {
    if (!ImPlot::IsPlotHovered()) return;
    const ImPlotPoint mouse = ImPlot::GetPlotMousePos();
    const auto hit = hit_at(mouse.y, mouse.x, scale().span_of(context.theme.scaled(4)));
    if (!hit) return gap_tooltip(mouse.y, mouse.x);
    tooltip(*hit, context.theme);
    const ImVec2 moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    const bool clicked = std::abs(moved.x) + std::abs(moved.y) < context.theme.scaled(4);
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && clicked) {
      choose_in(context.session, *hit->shown->run, hit->span.instruction);
      seen_changes_ = context.session.selection().instruction_changes();
    }
    if (!is_why_asked()) return;
    why_.ask(why_span(context.session, hit->shown->run, hit->span.instruction));
    why_run_ = hit->shown->run;
  }

  // About a prediction the cost model has more to say.
  static view::Why why_span(const Session& session, const view::LoadedRunPtr& run, InstructionId id) {
    view::Why why = view::why_time(*run, id);
    const auto& prediction = session.prediction();
    if (!prediction || prediction->run != run || why.value == "did not run") return why;
    const Calibration* const calibration = prediction->calibration ? &*prediction->calibration : nullptr;
    if (auto cost = view::why_cost(prediction->planned, calibration, id)) {
      why.notes.push_back("cost " + cost->value + ": " + cost->formula);
      for (view::WhyPart& part : cost->parts) part.number.reset();  // they are none of the median's
      why.parts.insert(why.parts.end(), cost->parts.begin(), cost->parts.end());
      why.source = cost->source;
    }
    return why;
  }

  static void tooltip(const Hit& hit, const Theme& theme) {
    if (!ImGui::BeginTooltip()) return;
    const StepPlan& plan = hit.shown->run->plan();
    const Instruction& instruction = plan.instruction(hit.span.instruction);
    ImGui::PushFont(theme.fonts.bold, 0);
    ImGui::TextUnformatted(hit.shown->run->words().instruction(hit.span.instruction).c_str());
    ImGui::PopFont();
    ImGui::TextDisabled("%s", instruction_label(plan, hit.span.instruction).c_str());
    if (hit.issues) ImGui::TextUnformatted("the host issues it, or is held up before the next");
    ImGui::TextUnformatted(fmt::format("{}   from {} to {}{}", to_string(hit.span.end - hit.span.begin),
                                       to_string(hit.span.begin), to_string(hit.span.end),
                                       hit.span.skipped ? "   skipped" : "")
                               .c_str());
    if (const std::string place = view::place_of(plan, hit.span.instruction); !place.empty())
      ImGui::TextUnformatted(place.c_str());
    if (instruction.bytes.value > 0) ImGui::TextUnformatted(to_string(instruction.bytes).c_str());
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed),
                       "click chooses it, right click says why");
    ImGui::EndTooltip();
  }

  // Beside the spans of the compute lane, which is a track's first.
  void gap_tooltip(double y, double time) const {
    int row = 0;
    for (const ShownTrack& each : tracks()) {
      const bool here = static_cast<int>(std::floor(y)) == row + rows_above_lanes(each.track);
      row += rows_of(each.track);
      if (!here) continue;
      const auto gap = view::gap_at(*each.run, each.track, *each.step, *each.rank,
                                    Nanoseconds{static_cast<std::int64_t>(std::floor(time))});
      if (gap) ImGui::SetTooltip("%s", to_words(*gap, *each.run).c_str());
    }
  }

  // Chosen in another panel: it comes into view.
  void follow_choice(Session& session) {
    if (session.selection().instruction_changes() == seen_changes_) return;
    seen_changes_ = session.selection().instruction_changes();
    for (const ShownTrack& each : tracks()) {
      const auto id = chosen_in(session, *each.run);
      if (!id || !each.track.place_of[id->index()]) continue;
      const view::SpanPlace place = *each.track.place_of[id->index()];
      const view::LaneSpan& span = each.track.lanes[place.lane].spans[place.span];
      bring_into_view(session, span.begin, span.end, end());
      return;
    }
  }

  std::vector<view::LoadedRunPtr> runs_;
  int rank_ = 0, made_for_rank_ = -1;
  view::Latest<Made> making_;
  int colours_ = 0;
  std::vector<double> tick_places_;
  std::vector<const char*> tick_names_;
  std::vector<view::DrawnSpan> scratch_;
  ImVec2 plot_min_{0, 0}, plot_max_{1, 1};
  std::uint64_t seen_changes_ = 0;
  std::uint64_t made_revision_ = 0;
  JumpBar jumps_;
  WhyPopup why_;
  view::LoadedRunPtr why_run_;
};

}  // namespace

std::unique_ptr<Panel> make_timeline_panel() {
  return std::make_unique<TimelinePanel>();
}

}  // namespace shardlab::gui
