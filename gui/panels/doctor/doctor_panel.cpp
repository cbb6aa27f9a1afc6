// Doctor: what is wrong with the scenario as it stands, and with jobs by their logs; what shows it, and what
// to do.
#include <imgui.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "gui/panels/doctor/applied_fix.h"
#include "gui/panels/doctor/finding_list.h"
#include "gui/shell/follow_why.h"
#include "gui/shell/run_state.h"
#include "gui/widgets/error_text.h"
#include "gui/widgets/named_area.h"
#include "gui/widgets/stale.h"

namespace shardlab::gui {
namespace {

class DoctorPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "doctor",
            .title = "Doctor",
            .help = "What is wrong with the scenario, or with a job by its log, and what to do",
            .area = DockArea::right,
            .rank = 10,
            .open = true,
            .shortcut = 0};
  }

  // A log that was dropped on the window is what somebody wants to see.
  void update(PanelContext& context) override {
    const std::uint64_t given = context.session.doctor().logs_given();
    if (std::exchange(logs_given_, given) != given) context.to_front.push_back("doctor");
  }

  void draw(PanelContext& context) override {
    Doctor& doctor = context.session.doctor();
    doctor.ask();
    refresh(context.session);
    draw_log_buttons(doctor);
    if (logs_.empty()) return draw_scenario(context);
    if (!ImGui::BeginTabBar("subjects", ImGuiTabBarFlags_DrawSelectedOverline)) return;
    for (std::size_t i = logs_.size(); i-- > 0;) draw_log_tab(i, context);
    if (begin_tab("Scenario")) {
      draw_scenario(context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  struct LogView {
    std::shared_ptr<const ExaminedLog> log;
    view::FindingsView view;
    ShownLines shown;
  };

  void refresh(const Session& session) {
    const Doctor& doctor = session.doctor();
    if (doctor.scenario() != scenario_) {
      scenario_ = doctor.scenario();
      view_ = {};
      if (scenario_)
        view_ = view::scenario_findings(scenario_->examination,
                                        scenario_->prediction ? scenario_->prediction->run.get() : nullptr);
    }
    if (logs_.size() == doctor.logs().size() &&
        std::equal(logs_.begin(), logs_.end(), doctor.logs().begin(),
                   [](const auto& shown, const auto& log) { return shown->log == log; }))
      return;
    std::vector<std::unique_ptr<LogView>> logs;
    for (const auto& log : doctor.logs()) {
      logs.push_back(std::make_unique<LogView>());
      logs.back()->log = log;
      logs.back()->view = view::log_findings(log->examination);
      logs.back()->shown = first_line(logs.back()->view);
    }
    newest_is_wanted_ =
        logs.size() > logs_.size() || (!logs.empty() && logs.back()->log != logs_.back()->log);
    logs_ = std::move(logs);
  }

  // The line that shows the first finding is there at once.
  static ShownLines first_line(const view::FindingsView& view) {
    if (view.cards.empty() || view.cards.front().evidence.empty()) return {};
    const view::EvidenceLine& line = view.cards.front().evidence.front();
    return line.line > 0 ? ShownLines{&line, true} : ShownLines{};
  }

  static void draw_log_buttons(Doctor& doctor) {
    if (ImGui::Button("Paste a log")) {
      const char* const text = ImGui::GetClipboardText();
      if (text != nullptr && *text != '\0') doctor.paste_log(text);
    }
    ImGui::SetItemTooltip("From the clipboard; files of logs are dropped on the window");
    ImGui::SameLine();
    ImGui::BeginDisabled(doctor.logs().empty() && !doctor.reading());
    if (ImGui::Button("Clear")) doctor.clear_logs();
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextDisabled("%s", doctor.reading()     ? "reading ..."
                              : doctor.examining() ? "examining ..."
                                                   : "or drop it on the window");
    ImGui::Spacing();
  }

  void draw_scenario(PanelContext& context) {
    Session& session = context.session;
    if (session.documents_opened() == 0)
      return empty_state("No scenario is open",
                         "What is wrong with it, and what to do, is said here; so it is of logs.",
                         context.theme);
    applied_.draw(session, context.theme);
    if (!scenario_) return;
    const bool stale = session.findings_are_stale();
    const DimWhenStale dim(stale);
    if (scenario_->failure) return draw_error(*scenario_->failure, context.theme);
    const CardEvents events =
        draw_finding_list(view_, {.can_apply = !stale, .lines = nullptr, .shown = nullptr}, context.theme);
    if (events.followed != nullptr) follow(*events.followed, context);
    if (events.applied != nullptr) applied_.apply(*events.applied, session);
  }

  void follow(const view::EvidenceLine& line, PanelContext& context) const {
    WhyAnswer answer;
    if (line.instruction) {
      answer.go_to = line.instruction;
    } else {
      answer.setting = line.setting;
    }
    follow_why(answer, scenario_->prediction ? scenario_->prediction->run.get() : nullptr, context);
  }

  void draw_log_tab(std::size_t index, PanelContext& context) {
    LogView& shown = *logs_[index];
    ImGui::PushID(shown.log.get());
    const bool is_wanted = index + 1 == logs_.size() && std::exchange(newest_is_wanted_, false);
    const std::string title = shown.log->name + "###log";
    const bool in_front = ImGui::BeginTabItem(
        title.c_str(), nullptr, is_wanted ? ImGuiTabItemFlags_SetSelected : ImGuiTabItemFlags_None);
    name_last_item(shown.log->name.c_str());
    if (in_front) {
      if (shown.log->error) {
        draw_error(*shown.log->error, context.theme);
      } else {
        draw_finding_list(shown.view, {.can_apply = false, .lines = &shown.log->lines, .shown = &shown.shown},
                          context.theme);
      }
      ImGui::EndTabItem();
    }
    ImGui::PopID();
  }

  std::shared_ptr<const ExaminedScenario> scenario_;  // that the view is of
  view::FindingsView view_;
  std::vector<std::unique_ptr<LogView>> logs_;  // as the session has them
  bool newest_is_wanted_ = false;               // its tab is to be brought to the front
  std::uint64_t logs_given_ = 0;
  AppliedFix applied_;
};

}  // namespace

std::unique_ptr<Panel> make_doctor_panel() {
  return std::make_unique<DoctorPanel>();
}

}  // namespace shardlab::gui
