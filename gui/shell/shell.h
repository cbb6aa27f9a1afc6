// The window's frame: menus, panels in their docks, status line, messages, palette and dialogs.
//
// Draws whatever panels there are and knows none of them. Lives between a Dear ImGui context's creation and
// its end; belongs to the frame's thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gui/shell/command_palette.h"
#include "gui/shell/file_dialog.h"
#include "gui/shell/panel.h"
#include "gui/shell/panels_aside.h"
#include "gui/shell/word_window.h"

namespace shardlab::gui {

struct ShellOptions {
  std::string only_panel;  // its id: that panel alone fills the window, for pictures; empty: the whole window
  bool remembers = true;   // preferences are written when they change
  std::filesystem::path preferences_file;
};

class Shell {
 public:
  Shell(Session& session, std::vector<std::unique_ptr<Panel>> panels, Fonts fonts, ShellOptions options);

  // The monitor's, or the user's choice in the preferences.
  void set_monitor_scale(float scale);
  // Before ImGui::NewFrame(): theme, and the layout that the preferences hold.
  void prepare();
  // Between NewFrame() and Render().
  void draw();
  // After Render(): takes the pictures that panels asked for.
  void finish_frame();
  // Scenarios, and what becomes one, replace the open one, unsaved edits of which are asked about first.
  void drop_files(const std::vector<std::string>& files);
  // Likewise, of files that are chosen in another way.
  void open_files(std::vector<std::filesystem::path> paths);
  // The user closes the window; asks first when there are unsaved edits.
  void request_quit();
  bool should_quit() const { return quit_; }
  void write_preferences();

  const Theme& theme() const { return theme_; }
  void show_panel(const std::string& id);
  // Whether any panel still makes what it shows.
  bool busy() const;

 private:
  PanelContext panel_context();
  std::vector<ShellCommand> commands();
  void file_commands(std::vector<ShellCommand>& list);
  void edit_commands(std::vector<ShellCommand>& list);
  void view_commands(std::vector<ShellCommand>& list);
  void draw_menu_bar(const std::vector<ShellCommand>& list);
  void draw_dock_space();
  void lay_out(ImGuiID dock, ImVec2 size);
  void bring_to_front();
  static void select(const std::string& window);
  void draw_panel(Panel& panel);
  void draw_only_panel();
  void draw_status_line();
  void draw_effect();
  void leave_document(std::string how, std::function<void()> then);
  void draw_leave_question();
  bool is_open(const std::string& id) const { return !closed_.contains(id); }

  Session& session_;
  std::vector<std::unique_ptr<Panel>> panels_;
  ShellOptions options_;
  Fonts fonts_;
  Theme theme_;
  float monitor_scale_ = 1;
  bool theme_is_set_ = false;
  bool layout_is_loaded_ = false;
  bool reset_layout_ = false;
  std::set<std::string> closed_;
  std::vector<std::string> to_front_;  // ids, the last one gets the focus
  std::vector<AsidePanel> aside_wanted_;
  PanelsAside aside_;
  CommandPalette palette_;
  FileDialog dialog_;
  WordWindow words_;
  const lessons::GlossaryWord* pointed_ = nullptr;  // by the mouse, in the frame before
  // What waits for an answer about unsaved edits: "quit", and the doing of it.
  std::string leaving_how_;
  std::function<void()> leaving_;
  bool ask_ = false;
  bool quit_ = false;
  Preferences written_;
  std::string effect_;  // of the edits since the baseline, and what it is of
  view::LoadedRunPtr effect_of_, effect_against_;
  std::vector<PictureRequest> pictures_;
  PlotEdges plot_edges_;
};

}  // namespace shardlab::gui
