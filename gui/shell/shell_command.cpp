#include "gui/shell/shell_command.h"

#include <algorithm>

#include <imgui_internal.h>

#include "gui/shell/shell.h"

namespace shardlab::gui {

std::string chord_text(ImGuiKeyChord chord) {
  return chord == 0 ? "" : ImGui::GetKeyChordName(chord);
}

void run_shortcuts(const std::vector<ShellCommand>& commands) {
  for (const ShellCommand& command : commands) {
    if (command.chord == 0 || !ImGui::Shortcut(command.chord, ImGuiInputFlags_RouteGlobal)) continue;
    if (command.enabled) command.run();
  }
}

// The commands of the shell itself.
std::vector<ShellCommand> Shell::commands() {
  std::vector<ShellCommand> list;
  file_commands(list);
  edit_commands(list);
  view_commands(list);
  return list;
}

void Shell::file_commands(std::vector<ShellCommand>& list) {
  const Document& document = session_.document();
  const auto open = [this](const std::filesystem::path& file) { open_files({file}); };
  const auto open_scenario = [this](const std::filesystem::path& file) {
    leave_document("open", [this, file] { session_.open(file); });
  };
  const auto save_as = [this] {
    dialog_.open("Save scenario as", session_.document().file(), FileChoice::new_file,
                 [this](const std::filesystem::path& file) { session_.save_as(file); });
  };
  list.push_back({"File", "Open...", ImGuiMod_Ctrl | ImGuiKey_O, true, false, [this, open] {
                    dialog_.open("Open", session_.document().file(), FileChoice::existing, open);
                  }});
  for (const std::string& file : session_.preferences().recent_files)
    list.push_back({"Recent", file, 0, true, false, [file, open_scenario] { open_scenario(file); }});
  list.push_back(
      {"File", "Save", ImGuiMod_Ctrl | ImGuiKey_S, document.changed() || document.file().empty(), false,
       [this, save_as] { session_.document().file().empty() ? save_as() : void(session_.save()); }});
  list.push_back({"File", "Save as...", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_S, true, false, save_as});
  list.push_back({"File", "Quit", ImGuiMod_Ctrl | ImGuiKey_Q, true, false, [this] { request_quit(); }});
}

void Shell::edit_commands(std::vector<ShellCommand>& list) {
  const Document& document = session_.document();
  const std::string undo = document.can_undo() ? "Undo " + document.undo_what() : "Undo";
  const std::string redo = document.can_redo() ? "Redo " + document.redo_what() : "Redo";
  list.push_back(
      {"Edit", undo, ImGuiMod_Ctrl | ImGuiKey_Z, document.can_undo(), false, [this] { session_.undo(); }});
  list.push_back(
      {"Edit", redo, ImGuiMod_Ctrl | ImGuiKey_Y, document.can_redo(), false, [this] { session_.redo(); }});
  list.push_back({"Edit", "Keep this prediction as the baseline", ImGuiMod_Ctrl | ImGuiKey_B,
                  session_.prediction() != nullptr && !session_.stale(), session_.baseline() != nullptr,
                  [this] { session_.set_baseline(); }});
  list.push_back({"Edit", "Forget the baseline", 0, session_.baseline() != nullptr, false,
                  [this] { session_.clear_baseline(); }});
  list.push_back({"Edit", "Command palette...", ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P, true, false,
                  [this] { palette_.open(); }});
}

void Shell::view_commands(std::vector<ShellCommand>& list) {
  for (const auto& panel : panels_) {
    const PanelInfo info = panel->info();
    list.push_back({"Panels", info.title, info.shortcut, true, is_open(info.id),
                    [this, id = info.id] { show_panel(id); }});
  }
  Preferences& preferences = session_.preferences();
  for (const char* const theme : {"dark", "light"})
    list.push_back({"View", std::string("Theme: ") + theme, 0, true, preferences.theme == theme,
                    [&preferences, theme] { preferences.theme = theme; }});
  list.push_back({"View", "Explain a word...", ImGuiKey_F1, true, false,
                  [this] { pointed_ == nullptr ? words_.ask() : session_.words().open(*pointed_); }});
  const double now = theme_.scale;
  const auto scale_to = [&preferences](double scale) { preferences.scale = std::clamp(scale, 0.75, 3.0); };
  list.push_back(
      {"View", "Larger", ImGuiMod_Ctrl | ImGuiKey_Equal, true, false, [=] { scale_to(now + 0.125); }});
  list.push_back(
      {"View", "Smaller", ImGuiMod_Ctrl | ImGuiKey_Minus, true, false, [=] { scale_to(now - 0.125); }});
  list.push_back({"View", "The monitor's size", ImGuiMod_Ctrl | ImGuiKey_0, true, preferences.scale == 0,
                  [&preferences] { preferences.scale = 0; }});
  list.push_back({"View", "Reset the layout", 0, true, false, [this] {
                    closed_.clear();
                    for (const auto& panel : panels_)
                      if (!panel->info().open) closed_.insert(panel->info().id);
                    reset_layout_ = true;
                  }});
}

}  // namespace shardlab::gui
