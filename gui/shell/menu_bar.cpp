// The shell's menu bar and status line.
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <imgui_internal.h>

#include "gui/shell/shell.h"
#include "gui/view_model/baseline.h"

namespace shardlab::gui {
namespace {

void menu_items(const std::vector<ShellCommand>& list, const std::string& menu) {
  for (const ShellCommand& command : list) {
    if (command.menu != menu) continue;
    if (ImGui::MenuItem(command.title.c_str(), chord_text(command.chord).c_str(), command.checked,
                        command.enabled))
      command.run();
  }
}

struct StatusWord {
  std::string text;
  ImU32 colour;
};

StatusWord status_of(const Session& session, const Theme& theme) {
  if (session.documents_opened() == 0) return {"no scenario", theme.dimmed};
  if (session.predicting()) return {"predicting ...", theme.fair};
  if (session.problem()) return {"the scenario has a mistake", theme.bad};
  if (!session.prediction()) return {"", theme.dimmed};
  return {fmt::format("predicted in {:.0f} ms", session.prediction()->milliseconds), theme.dimmed};
}

void draw_right(const std::string& text, ImU32 colour) {
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  ImGui::SameLine(ImGui::GetWindowWidth() - width - 2 * ImGui::GetStyle().WindowPadding.x);
  ImGui::TextColored(ImColor(colour), "%s", text.c_str());
}

}  // namespace

void Shell::draw_menu_bar(const std::vector<ShellCommand>& list) {
  if (!ImGui::BeginMainMenuBar()) return;
  for (const char* const menu : {"File", "Edit", "View", "Panels"}) {
    if (!ImGui::BeginMenu(menu)) continue;
    menu_items(list, menu);
    if (std::string(menu) == "File" &&
        ImGui::BeginMenu("Recent", !session_.preferences().recent_files.empty())) {
      menu_items(list, "Recent");
      ImGui::EndMenu();
    }
    ImGui::EndMenu();
  }
  const Document& document = session_.document();
  const std::string title = document.title() + (document.changed() ? " *" : "");
  const float width = ImGui::CalcTextSize(title.c_str()).x;
  ImGui::SameLine((ImGui::GetWindowWidth() - width) / 2);
  ImGui::TextDisabled("%s", title.c_str());
  ImGui::EndMainMenuBar();
}

void Shell::draw_status_line() {
  const ImGuiWindowFlags flags =
      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_MenuBar;
  if (ImGui::BeginViewportSideBar("##status", nullptr, ImGuiDir_Down, ImGui::GetFrameHeight(), flags)) {
    if (ImGui::BeginMenuBar()) {
      const StatusWord word = status_of(session_, theme_);
      ImGui::TextColored(ImColor(word.colour), "%s", word.text.c_str());
      draw_effect();
      draw_right(session_.database().empty() ? "no database" : session_.database().string(), theme_.dimmed);
      ImGui::EndMenuBar();
    }
  }
  ImGui::End();
}

// The effect of the edits since the baseline is told whatever panel is open.
void Shell::draw_effect() {
  if (!session_.left_baseline()) return;
  const view::LoadedRunPtr now = session_.predicted_run();
  if (effect_of_ != now || effect_against_ != session_.baseline()) {
    effect_ = view::baseline_words(*session_.baseline(), *now);
    effect_of_ = now;
    effect_against_ = session_.baseline();
  }
  ImGui::SameLine(0, theme_.scaled(18));
  ImGui::TextDisabled("against the baseline:");
  ImGui::SameLine();
  ImGui::TextColored(ImColor(session_.stale() ? theme_.dimmed : theme_.text), "%s", effect_.c_str());
}

void Shell::draw_leave_question() {
  const char* const title = "Unsaved changes";
  if (std::exchange(ask_, false)) ImGui::OpenPopup(title);
  ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  if (!ImGui::BeginPopupModal(title, nullptr, ImGuiWindowFlags_AlwaysAutoResize)) return;
  ImGui::Text("%s has changes that are not saved.", session_.document().title().c_str());
  ImGui::Spacing();
  std::string without = leaving_how_ + " without saving";
  without.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(without.front())));
  const bool has_file = !session_.document().file().empty();
  const bool save = has_file && ImGui::Button(("Save and " + leaving_how_).c_str());
  if (has_file) ImGui::SameLine();
  const bool leave = ImGui::Button(without.c_str());
  ImGui::SameLine();
  const bool stay = ImGui::Button("Stay");
  if (save || leave || stay) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  if (leave || (save && session_.save())) std::exchange(leaving_, nullptr)();
}

}  // namespace shardlab::gui
