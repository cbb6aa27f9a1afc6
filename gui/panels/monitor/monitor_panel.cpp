// Run monitor: starts a real run, a validation or a calibration as a child process and watches it.
#include <fmt/format.h>

#include <algorithm>

#include "gui/panels/monitor/progress_plots.h"
#include "gui/session/run_start.h"
#include "gui/shell/job_progress.h"
#include "gui/shell/panel.h"
#include "gui/shell/run_state.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

constexpr view::JobKind k_kinds[] = {view::JobKind::validate, view::JobKind::run, view::JobKind::calibrate};
constexpr const char* k_kind_names[] = {"validate: predict, run, compare", "run: train for real",
                                        "calibrate this machine"};

class MonitorPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "monitor",
            .title = "Run monitor",
            .help = "Start a real run or a calibration and watch it: progress, loss, memory, log, stop",
            .area = DockArea::bottom,
            .rank = 20,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_5};
  }

  void update(PanelContext& context) override {
    if (!started_ || !started_->job->poll() || !started_->job->ended() || told_) return;
    told_ = true;
    tell_end(context.session, *started_->job);
  }

  void draw(PanelContext& context) override {
    draw_controls(context);
    if (!started_) {
      empty_state("Nothing runs",
                  "A real run trains the open scenario, one process a rank, and stores what it measured. The "
                  "window stays usable, whatever happens to it.",
                  context.theme);
      return;
    }
    draw_progress(context);
    draw_log(context.theme);
  }

 private:
  bool running() const { return started_ && !started_->job->ended(); }

  void draw_controls(PanelContext& context) {
    Session& session = context.session;
    const bool possible = session.documents_opened() > 0;
    ImGui::BeginDisabled(running());
    ImGui::SetNextItemWidth(context.theme.scaled(250));
    ImGui::Combo("##what", &kind_, k_kind_names, 3);
    name_last_item("##what");
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::BeginDisabled(running() || !possible || session.problem().has_value());
    if (ImGui::Button("Start")) start(session);
    ImGui::EndDisabled();
    if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) && session.problem())
      ImGui::SetTooltip("The scenario has an error: %s", what_text(*session.problem()).c_str());
    ImGui::SameLine();
    ImGui::BeginDisabled(!running());
    if (ImGui::Button("Stop")) started_->job->stop();
    ImGui::EndDisabled();
    if (!started_) return;
    const view::Job& job = *started_->job;
    ImGui::SameLine();
    const ImU32 colour = job.phase() == view::JobPhase::failed     ? context.theme.bad
                         : job.phase() == view::JobPhase::finished ? context.theme.good
                                                                   : context.theme.text;
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(colour), "%s",
                       std::string(to_string(job.phase())).c_str());
    ImGui::SameLine();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(context.theme.dimmed), "%.0f s   %s", job.seconds(),
                       running() ? job.output().activity.c_str() : "");
  }

  void start(Session& session) {
    started_.reset();
    auto started = start_run(session.document(), k_kinds[kind_], session.database(), session.program());
    if (!started) {
      session.messages().add(started.error(), "run", session.now());
      return;
    }
    session.messages().clear("run");
    started_.emplace(*std::move(started));
    told_ = false;
  }

  // The stored runs are shown everywhere: the measured lane appears below the predicted one.
  static void tell_end(Session& session, const view::Job& job) {
    if (job.trouble()) session.messages().add(*job.trouble(), "run", session.now());
    std::vector<RunId> runs;
    std::string names;
    for (const view::StoredByJob& stored : job.output().stored) {
      if (stored.kind == RunKind::measured) runs.push_back(stored.id);
      names += (names.empty() ? "" : ", ") + to_string(stored.id);
    }
    if (!runs.empty()) session.selection().choose_runs(runs);
    if (!names.empty())
      session.messages().news(
          fmt::format("stored {}{}", names,
                      job.verdict_not_met() ? "; a tolerance was not met"
                      : job.not_judged()    ? "; times are not judged: the machine changed meanwhile"
                                            : ""),
          session.now());
  }

  void draw_progress(PanelContext& context) {
    const Theme& theme = context.theme;
    const view::Job& job = *started_->job;
    const view::JobOutput& output = job.output();
    draw_job_progress(job, theme);
    const float height =
        std::clamp(ImGui::GetContentRegionAvail().y * 0.6F, theme.scaled(120), theme.scaled(260));
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    draw_progress_plots(output, height, theme);
    if (auto asked = picture_menu("progress", at, {at.x + room.x, at.y + height}))
      context.pictures.push_back(*std::move(asked));
  }

  void draw_log(const Theme& theme) {
    const view::JobOutput& output = started_->job->output();
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "log, %zu line%s", output.lines.size(),
                       output.lines.size() == 1 ? "" : "s");
    ImGui::SameLine();
    if (ImGui::SmallButton("Copy log")) {
      std::string all;
      for (const std::string& line : output.lines) all += line + '\n';
      ImGui::SetClipboardText(all.c_str());
    }
    if (!ImGui::BeginChild("log", {0, 0}, ImGuiChildFlags_Borders, ImGuiWindowFlags_HorizontalScrollbar)) {
      ImGui::EndChild();
      return;
    }
    ImGui::PushFont(theme.fonts.mono, theme.scaled(k_mono_size) / theme.scale);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(output.lines.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        ImGui::TextUnformatted(output.lines[static_cast<std::size_t>(i)].c_str());
    }
    ImGui::PopFont();
    // Follows the end while the user looks at it.
    if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1) ImGui::SetScrollHereY(1);
    ImGui::EndChild();
  }

  int kind_ = 0;
  std::optional<StartedRun> started_;
  bool told_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_monitor_panel() {
  return std::make_unique<MonitorPanel>();
}

}  // namespace shardlab::gui
