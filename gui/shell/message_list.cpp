#include "gui/shell/message_list.h"

#include <optional>
#include <string>

#include "gui/widgets/draw_markdown.h"

namespace shardlab::gui {
namespace {

constexpr double k_news_seconds = 5;
constexpr std::size_t k_shown = 4;

ImU32 colour_of(MessageKind kind, const Theme& theme) {
  return kind == MessageKind::error ? theme.bad : kind == MessageKind::warning ? theme.fair : theme.good;
}

bool draw_one(const Message& message, const Theme& theme) {
  const ImVec2 top = ImGui::GetCursorScreenPos();
  ImGui::Indent(theme.scaled(10));
  const float room = ImGui::GetContentRegionAvail().x - theme.scaled(24);
  draw_prose(message.text, theme, room);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  draw_prose(message.hint, theme, room);
  ImGui::PopStyleColor();
  ImGui::Unindent(theme.scaled(10));
  const ImVec2 end = ImGui::GetCursorScreenPos();
  const float bottom = end.y - ImGui::GetStyle().ItemSpacing.y;
  ImGui::GetWindowDrawList()->AddRectFilled(top, {top.x + theme.scaled(3), bottom},
                                            colour_of(message.kind, theme), theme.scaled(1.5F));
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::SetCursorScreenPos({top.x + width - theme.scaled(22), top.y - theme.scaled(2)});
  const bool closed = ImGui::SmallButton("x##close");
  ImGui::SetCursorScreenPos(end);
  ImGui::Dummy({0, 0});
  return closed;
}

}  // namespace

void draw_messages(Messages& messages, const Theme& theme, double now) {
  for (std::size_t i = messages.all().size(); i-- > 0;) {
    const Message& message = messages.all()[i];
    if (message.kind == MessageKind::news && now - message.at_seconds > k_news_seconds) messages.dismiss(i);
  }
  if (messages.all().empty()) return;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const ImVec2 corner = {viewport.WorkPos.x + viewport.WorkSize.x - theme.scaled(14),
                         viewport.WorkPos.y + viewport.WorkSize.y - theme.scaled(14)};
  ImGui::SetNextWindowPos(corner, ImGuiCond_Always, {1, 1});
  ImGui::SetNextWindowSize({theme.scaled(420), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, theme.scaled(6));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.popup);
  const ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                 ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings |
                                 ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav;
  if (ImGui::Begin("Messages", nullptr, flags)) {
    std::optional<std::size_t> closed;
    const std::size_t count = messages.all().size();
    for (std::size_t i = count > k_shown ? count - k_shown : 0; i < count; ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (draw_one(messages.all()[i], theme)) closed = i;
      ImGui::PopID();
    }
    if (closed) messages.dismiss(*closed);
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
}

}  // namespace shardlab::gui
