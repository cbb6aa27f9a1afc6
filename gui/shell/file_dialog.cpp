#include "gui/shell/file_dialog.h"

#include <algorithm>
#include <utility>

#include <imgui_stdlib.h>

namespace shardlab::gui {
namespace fs = std::filesystem;
namespace {

// What is opened may be of any kind: its content says it, not its ending. A scenario is what is saved.
bool is_shown(const fs::directory_entry& entry, FileChoice choice) {
  const std::string name = entry.path().filename().string();
  if (name.starts_with(".")) return false;
  std::error_code error;
  if (choice == FileChoice::existing || entry.is_directory(error)) return true;
  const fs::path ending = entry.path().extension();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

}  // namespace

void FileDialog::open(std::string title, const fs::path& start, FileChoice choice, Done done) {
  title_ = std::move(title);
  choice_ = choice;
  done_ = std::move(done);
  opening_ = true;
  std::error_code error;
  const fs::path absolute = start.empty() ? fs::current_path(error) : fs::absolute(start, error);
  const bool is_folder = fs::is_directory(absolute, error);
  name_ = choice == FileChoice::new_file && !is_folder ? absolute.filename().string() : "";
  enter(is_folder ? absolute : absolute.parent_path());
}

void FileDialog::enter(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> folders, files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_shown(*entry, choice_)) continue;
    std::error_code ignored;
    const bool is_folder = entry->is_directory(ignored);
    if (is_folder || choice_ != FileChoice::folder) (is_folder ? folders : files).push_back(entry->path());
  }
  problem_ = error ? folder.string() + ": " + error.message() : "";
  if (error) return;
  std::sort(folders.begin(), folders.end());
  std::sort(files.begin(), files.end());
  folder_ = folder.lexically_normal();
  entries_ = std::move(folders);
  entries_.insert(entries_.end(), files.begin(), files.end());
}

void FileDialog::list_entries(float height) {
  if (!ImGui::BeginChild("entries", {0, height}, ImGuiChildFlags_Borders)) {
    ImGui::EndChild();
    return;
  }
  fs::path entered;
  if (folder_.has_relative_path() && ImGui::Selectable("..")) entered = folder_.parent_path();
  for (const fs::path& entry : entries_) {
    std::error_code error;
    const bool is_folder = fs::is_directory(entry, error);
    const std::string name = entry.filename().string() + (is_folder ? "/" : "");
    if (!ImGui::Selectable(name.c_str(), name == name_, ImGuiSelectableFlags_AllowDoubleClick)) continue;
    if (is_folder) {
      entered = entry;
    } else {
      name_ = name;
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) take();
    }
  }
  ImGui::EndChild();
  if (!entered.empty()) enter(entered);
}

void FileDialog::take() {
  const bool wants_folder = choice_ == FileChoice::folder;
  if (name_.empty() && !wants_folder) return;
  const fs::path typed = fs::path(name_).is_absolute() ? fs::path(name_) : folder_ / name_;
  std::error_code error;
  const bool is_there = fs::exists(typed, error), is_folder = fs::is_directory(typed, error);
  if (is_folder && !wants_folder) {
    name_.clear();
    enter(typed);
    return;
  }
  if (choice_ == FileChoice::existing && !is_there) {
    problem_ = typed.string() + ": there is no such file";
    return;
  }
  if (wants_folder && is_there && !is_folder) {
    problem_ = typed.string() + ": is no folder";
    return;
  }
  ImGui::CloseCurrentPopup();
  done_(typed);
}

const char* FileDialog::action() const {
  std::error_code error;
  switch (choice_) {
    case FileChoice::existing: return "Open";
    case FileChoice::folder: return "Choose";
    case FileChoice::new_file: break;
  }
  const bool overwrites = !name_.empty() && fs::is_regular_file(folder_ / name_, error);
  return overwrites ? "Overwrite" : "Save";
}

void FileDialog::draw(const Theme& theme) {
  const std::string popup = title_ + "###file dialog";
  if (std::exchange(opening_, false)) ImGui::OpenPopup(popup.c_str());
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  ImGui::SetNextWindowSize({std::min(theme.scaled(620), viewport.Size.x * 0.9F), 0});
  bool open = true;
  if (!ImGui::BeginPopupModal(popup.c_str(), &open, ImGuiWindowFlags_AlwaysAutoResize)) return;
  ImGui::TextDisabled("%s", folder_.string().c_str());
  list_entries(theme.scaled(280));
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint(
      "##name", choice_ == FileChoice::folder ? "A folder in it, or a path" : "Name, or a path", &name_,
      ImGuiInputTextFlags_EnterReturnsTrue);
  if (!problem_.empty()) ImGui::TextColored(ImColor(theme.bad), "%s", problem_.c_str());
  if (ImGui::Button(action()) || entered) take();
  ImGui::SameLine();
  if (ImGui::Button("Cancel") || !open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace shardlab::gui
