#include "gui/shell/shell.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <imgui_internal.h>

#include "gui/session/dropped_files.h"
#include "gui/shell/default_layout.h"
#include "gui/shell/message_list.h"
#include "gui/widgets/picture.h"

namespace shardlab::gui {
namespace {

// "memory.png", "memory-2.png" ...: a picture never overwrites a file.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  std::filesystem::path file = folder / (name + ".png");
  for (int i = 2; std::filesystem::exists(file, error); ++i)
    file = folder / (name + "-" + std::to_string(i) + ".png");
  return file;
}

}  // namespace

Shell::Shell(Session& session, std::vector<std::unique_ptr<Panel>> panels, Fonts fonts, ShellOptions options)
    : session_(session), panels_(std::move(panels)), options_(std::move(options)), fonts_(fonts) {
  // Tabs stand in the order in which their windows are first drawn.
  std::stable_sort(panels_.begin(), panels_.end(),
                   [](const auto& a, const auto& b) { return a->info().rank < b->info().rank; });
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable | ImGuiConfigFlags_NavEnableKeyboard;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.IniFilename = nullptr;  // the layout is kept in the preferences
  for (const auto& panel : panels_)
    if (!panel->info().open) closed_.insert(panel->info().id);
  const Preferences& preferences = session_.preferences();
  if (!preferences.layout.empty())
    closed_ = {preferences.closed_panels.begin(), preferences.closed_panels.end()};
  written_ = preferences;
}

PanelContext Shell::panel_context() {
  return {session_, theme_, pictures_, to_front_, plot_edges_, aside_wanted_};
}

void Shell::set_monitor_scale(float scale) {
  monitor_scale_ = scale;
}

void Shell::prepare() {
  const Preferences& preferences = session_.preferences();
  const ThemeKind kind = parse_word<ThemeKind>(preferences.theme).value_or(ThemeKind::dark);
  const float scale = preferences.scale > 0 ? static_cast<float>(preferences.scale) : monitor_scale_;
  if (!theme_is_set_ || kind != theme_.kind || std::fabs(scale - theme_.scale) > 1e-3F) {
    theme_ = make_theme(kind, scale);
    theme_.fonts = fonts_;
    theme_.words = &session_.words();
    apply_theme(theme_);
    theme_is_set_ = true;
  }
  if (!layout_is_loaded_ && !preferences.layout.empty())
    ImGui::LoadIniSettingsFromMemory(preferences.layout.c_str(), preferences.layout.size());
  layout_is_loaded_ = true;
}

void Shell::draw() {
  plot_edges_.new_frame();
  pointed_ = session_.words().take_pointed();
  PanelContext context = panel_context();
  aside_wanted_.clear();
  for (const auto& panel : panels_) panel->update(context);
  if (!options_.only_panel.empty()) return draw_only_panel();
  const std::vector<ShellCommand> list = commands();
  run_shortcuts(list);
  draw_menu_bar(list);
  draw_status_line();
  draw_dock_space();
  for (const auto& panel : panels_) draw_panel(*panel);
  bring_to_front();
  aside_.arrange(aside_wanted_, panels_, to_front_);  // which are in their places in the next frame
  words_.draw(session_, theme_);
  draw_messages(session_.messages(), theme_, session_.now());
  palette_.draw(list, theme_);
  dialog_.draw(theme_);
  draw_leave_question();
  if (ImGui::GetIO().WantSaveIniSettings && !aside_.any()) write_preferences();
}

// The default layout, with the first panel of each area in front, or the one that is wanted.
void Shell::lay_out(ImGuiID dock, ImVec2 size) {
  build_default_layout(dock, size, panels_);
  aside_ = {};
  std::set<DockArea> seen;
  const std::vector<std::string> wanted = std::exchange(to_front_, {});
  for (const auto& panel : panels_)
    if (is_open(panel->info().id) && seen.insert(panel->info().area).second)
      to_front_.push_back(panel->info().id);
  to_front_.insert(to_front_.end(), wanted.begin(), wanted.end());
}

void Shell::draw_dock_space() {
  const ImGuiID dock = ImGui::GetID("dock space");
  const ImGuiViewport* const viewport = ImGui::GetMainViewport();
  if (reset_layout_ || ImGui::DockBuilderGetNode(dock) == nullptr) lay_out(dock, viewport->WorkSize);
  reset_layout_ = false;
  ImGui::DockSpaceOverViewport(dock, viewport,
                               static_cast<int>(ImGuiDockNodeFlags_NoWindowMenuButton) |
                                   static_cast<int>(ImGuiDockNodeFlags_NoCloseButton));
}

void Shell::draw_panel(Panel& panel) {
  const PanelInfo info = panel.info();
  bool open = is_open(info.id);
  if (!open) return;
  ImGui::SetNextWindowSize({theme_.scaled(520), theme_.scaled(420)}, ImGuiCond_FirstUseEver);
  // What is to be in front is brought there: else every layout would begin with the panel drawn last.
  if (ImGui::Begin(window_name(info).c_str(), &open, ImGuiWindowFlags_NoFocusOnAppearing)) {
    PanelContext context = panel_context();
    panel.draw(context);
  }
  ImGui::End();
  if (!open) closed_.insert(info.id);
}

// The focus is one window's alone, so the tabs of several places are chosen by themselves.
void Shell::select(const std::string& window) {
  const ImGuiWindow* const found = ImGui::FindWindowByName(window.c_str());
  if (found != nullptr && found->DockNode != nullptr && found->DockNode->TabBar != nullptr)
    found->DockNode->TabBar->NextSelectedTabId = found->TabId;
  ImGui::SetWindowFocus(window.c_str());
}

// Tabs exist once their windows were drawn: what is to be in front is brought there after that, what was
// closed in the next frame.
void Shell::bring_to_front() {
  for (const std::string& id : std::exchange(to_front_, {})) {
    if (closed_.erase(id) > 0) {
      to_front_.push_back(id);
      continue;
    }
    for (const auto& panel : panels_)
      if (panel->info().id == id) select(window_name(panel->info()));
  }
}

void Shell::draw_only_panel() {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  for (const auto& panel : panels_) {
    const PanelInfo info = panel->info();
    if (info.id != options_.only_panel) continue;
    ImGui::SetNextWindowPos(viewport.Pos);
    ImGui::SetNextWindowSize(viewport.Size);
    ImGui::Begin(window_name(info).c_str(), nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoDocking);
    PanelContext context = panel_context();
    panel->draw(context);
    ImGui::End();
  }
}

void Shell::show_panel(const std::string& id) {
  closed_.erase(id);
  to_front_ = {id};
}

bool Shell::busy() const {
  if (session_.words().busy()) return true;
  return std::any_of(panels_.begin(), panels_.end(), [](const auto& panel) { return panel->busy(); });
}

void Shell::drop_files(const std::vector<std::string>& files) {
  open_files({files.begin(), files.end()});
}

void Shell::open_files(std::vector<std::filesystem::path> paths) {
  const bool replaces = std::any_of(paths.begin(), paths.end(), [](const auto& path) {
    const DroppedKind kind = examine_dropped(path).kind;
    return kind == DroppedKind::scenario || kind == DroppedKind::configuration;
  });
  const auto open = [this, paths = std::move(paths)] { session_.open_any(paths); };
  if (replaces) {
    leave_document("open", open);
  } else {
    open();
  }
}

void Shell::request_quit() {
  leave_document("quit", [this] { quit_ = true; });
}

void Shell::leave_document(std::string how, std::function<void()> then) {
  if (!session_.document().changed()) return then();
  leaving_how_ = std::move(how);
  leaving_ = std::move(then);
  ask_ = true;
}

void Shell::finish_frame() {
  if (pictures_.empty()) return;
  const Picture frame = rasterise(*ImGui::GetDrawData(), theme_.window);
  for (const PictureRequest& request : std::exchange(pictures_, {})) {
    const std::filesystem::path file = free_name(session_.document().file().parent_path(), request.name);
    if (const auto written = write_png(cut_out(frame, request.min, request.max), file); !written) {
      session_.messages().add(written.error(), "picture", session_.now());
    } else {
      session_.messages().news("saved " + file.string(), session_.now());
    }
  }
}

void Shell::write_preferences() {
  ImGui::GetIO().WantSaveIniSettings = false;
  if (!options_.remembers) return;
  Preferences& preferences = session_.preferences();
  if (!aside_.any()) preferences.layout = ImGui::SaveIniSettingsToMemory();
  preferences.closed_panels.assign(closed_.begin(), closed_.end());
  if (preferences == written_) return;
  written_ = preferences;
  if (const auto saved = save_preferences(preferences, options_.preferences_file); !saved)
    session_.messages().add(saved.error(), "preferences", session_.now());
}

}  // namespace shardlab::gui
