#include "gui/shell/command_palette.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <imgui_stdlib.h>

#include "engine/base/lower_case.h"

namespace shardlab::gui {
namespace {

bool contains_all(const std::string& title, const std::string& query) {
  std::istringstream words(query);
  for (std::string word; words >> word;)
    if (title.find(word) == std::string::npos) return false;
  return true;
}

}  // namespace

std::vector<std::size_t> palette_matches(const std::vector<std::string>& titles, const std::string& query) {
  const std::string wanted = in_lower_case(query);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < titles.size(); ++i)
    if (contains_all(in_lower_case(titles[i]), wanted)) found.push_back(i);
  std::stable_partition(found.begin(), found.end(),
                        [&](std::size_t i) { return in_lower_case(titles[i]).starts_with(wanted); });
  return found;
}

void CommandPalette::draw(const std::vector<ShellCommand>& commands, const Theme& theme) {
  if (std::exchange(opening_, false)) {
    ImGui::OpenPopup("Command palette");
    query_.clear();
    chosen_ = 0;
  }
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({viewport.GetCenter().x, viewport.Pos.y + theme.scaled(60)}, ImGuiCond_Always,
                          {0.5F, 0});
  ImGui::SetNextWindowSize({std::min(theme.scaled(560), viewport.Size.x * 0.9F), 0});
  if (!ImGui::BeginPopup("Command palette", ImGuiWindowFlags_NoMove)) return;
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint("##query", "What do you want to do?", &query_,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  std::vector<const ShellCommand*> usable;
  std::vector<std::string> titles;
  for (const ShellCommand& command : commands) {
    if (!command.enabled) continue;
    usable.push_back(&command);
    titles.push_back(command.menu + ": " + command.title);
  }
  const auto found = palette_matches(titles, query_);
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++chosen_;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --chosen_;
  if (ImGui::IsItemEdited()) chosen_ = 0;
  chosen_ = std::clamp(chosen_, 0, std::max(0, static_cast<int>(found.size()) - 1));
  const ShellCommand* run = nullptr;
  const float height = ImGui::GetTextLineHeightWithSpacing() * 12;
  if (ImGui::BeginChild("list", {0, height})) {
    for (std::size_t row = 0; row < found.size(); ++row) {
      const bool is_chosen = static_cast<int>(row) == chosen_;
      if (ImGui::Selectable(titles[found[row]].c_str(), is_chosen)) run = usable[found[row]];
      if (is_chosen &&
          (entered || ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow)))
        ImGui::SetScrollHereY();
      const std::string chord = chord_text(usable[found[row]]->chord);
      ImGui::SameLine(ImGui::GetWindowWidth() - ImGui::CalcTextSize(chord.c_str()).x - theme.scaled(16));
      ImGui::TextDisabled("%s", chord.c_str());
    }
    if (found.empty()) ImGui::TextDisabled("Nothing is called that.");
  }
  ImGui::EndChild();
  if (entered && !found.empty()) run = usable[found[static_cast<std::size_t>(chosen_)]];
  if (run != nullptr) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  if (run != nullptr) run->run();
}

}  // namespace shardlab::gui
