#include "gui/panels/player/buffer_shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/base/with_spaces.h"

namespace shardlab::gui {
namespace {

std::string class_title(BufferClass buffer_class) {
  return with_spaces(to_string(buffer_class));
}

const char* motion_text(view::BufferMotion motion) {
  switch (motion) {
    case view::BufferMotion::read: return "is read";
    case view::BufferMotion::written: return "is written";
    case view::BufferMotion::filling: return "is allocated and filled";
    case view::BufferMotion::emptying: return "is freed";
    case view::BufferMotion::rest: break;
  }
  return "rests";
}

ImU32 edge_of(view::BufferMotion motion, const Theme& theme) {
  if (motion == view::BufferMotion::emptying) return theme.bad;
  return motion == view::BufferMotion::read ? theme.accent : theme.text;
}

struct Shelf {
  std::vector<const view::ShownBuffer*> buffers;
  Bytes bytes;
};

// In words where they fit, else as the plan's text names it, else not.
void draw_name(const view::LoadedRun& run, const view::ShownBuffer& shown, ImVec2 min, ImVec2 max,
               const Theme& theme) {
  const Buffer& buffer = run.plan().buffer(shown.buffer);
  if (max.x - min.x < theme.scaled(40)) return;
  for (const std::string& text : {to_words(run.words().buffer(shown.buffer)), buffer.name}) {
    const ImVec2 size = theme.fonts.text->CalcTextSizeA(theme.scaled(k_small_size), FLT_MAX, 0, text.c_str());
    if (size.x + theme.scaled(8) >= max.x - min.x) continue;
    const ImU32 colour = shown.fill > 0.5 ? text_on(colour_of(theme, buffer.buffer_class)) : theme.text;
    ImGui::GetWindowDrawList()->AddText(theme.fonts.text, theme.scaled(k_small_size),
                                        {min.x + theme.scaled(4), (min.y + max.y - size.y) / 2}, colour,
                                        text.c_str());
    return;
  }
}

void draw_box(const view::LoadedRun& run, const view::ShownBuffer& shown, ImVec2 min, ImVec2 max,
              const Theme& theme) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Buffer& buffer = run.plan().buffer(shown.buffer);
  const ImU32 colour = colour_of(theme, buffer.buffer_class);
  list.AddRectFilled(min, max, faded(colour, 0.22F), theme.scaled(2));
  const float level = max.y - (max.y - min.y) * static_cast<float>(shown.fill);
  list.AddRectFilled({min.x, level}, max, faded(colour, 0.9F), theme.scaled(2));
  if (shown.motion != view::BufferMotion::rest) {
    // The edge leaves something of a narrow box to be seen.
    const float thick = std::max(std::min(theme.scaled(2), (max.x - min.x) / 4), 1.0F);
    list.AddRect(min, max, edge_of(shown.motion, theme), theme.scaled(2), 0, thick);
  }
  draw_name(run, shown, min, max, theme);
  if (ImGui::IsMouseHoveringRect(min, max) && ImGui::IsWindowHovered())
    ImGui::SetTooltip("%s\n%s, %s\n%s, %s", to_words(run.words().buffer(shown.buffer)).c_str(),
                      buffer.name.c_str(), class_title(buffer.buffer_class).c_str(),
                      to_string(shown.bytes).c_str(), motion_text(shown.motion));
}

}  // namespace

void draw_motion_legend(const Theme& theme) {
  struct Entry {
    const char* name;
    view::BufferMotion motion;
  };
  constexpr std::array<Entry, 3> k_entries = {{{"read", view::BufferMotion::read},
                                               {"written", view::BufferMotion::written},
                                               {"freed", view::BufferMotion::emptying}}};
  const float size = theme.scaled(11), gap = theme.scaled(6), apart = theme.scaled(14);
  float width = 0;
  for (const Entry& each : k_entries) width += size + gap + ImGui::CalcTextSize(each.name).x + apart;
  ImGui::SameLine(std::max(ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x - width + apart,
                           ImGui::GetCursorPosX()));
  ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const Entry& each : k_entries) {
    const float top = at.y + (ImGui::GetTextLineHeight() - size) / 2;
    list.AddRect({at.x, top}, {at.x + size, top + size}, edge_of(each.motion, theme), theme.scaled(2), 0,
                 theme.scaled(2));
    list.AddText({at.x + size + gap, at.y}, theme.dimmed, each.name);
    at.x += size + gap + ImGui::CalcTextSize(each.name).x + apart;
  }
  ImGui::Dummy({width - apart, ImGui::GetTextLineHeight()});
}

Bytes highest_of_a_class(const StepPlan& plan, const std::vector<view::BufferLife>& lives) {
  std::array<Bytes, k_buffer_classes> live{};
  Bytes most{1};
  const auto add = [&](BufferId id, std::int64_t sign) {
    Bytes& sum = live[static_cast<std::size_t>(plan.buffer(id).buffer_class)];
    sum += sign * plan.buffer(id).bytes();
    most = std::max(most, sum);
  };
  for (const view::BufferLife& life : lives) {
    if (life.begin < 0) add(life.buffer, 1);
  }
  for (const Instruction& instruction : plan.instructions) {
    for (const BufferId id : instruction.allocates) add(id, 1);
    for (const BufferId id : instruction.frees) add(id, -1);
  }
  return most;
}

void draw_shelves(const view::LoadedRun& run, const view::PlayerFrame& frame, Bytes most,
                  const Theme& theme) {
  const StepPlan& plan = run.plan();
  std::array<Shelf, k_buffer_classes> shelves;
  for (const view::ShownBuffer& buffer : frame.buffers) {
    Shelf& shelf = shelves[static_cast<std::size_t>(plan.buffer(buffer.buffer).buffer_class)];
    shelf.buffers.push_back(&buffer);
    shelf.bytes += buffer.bytes;
  }
  // Every class that the plan has keeps its shelf, empty or not, so that nothing jumps.
  std::array<bool, k_buffer_classes> used{};
  for (const Buffer& buffer : plan.buffers) used[static_cast<std::size_t>(buffer.buffer_class)] = true;
  const auto count = std::max<std::ptrdiff_t>(std::count(used.begin(), used.end(), true), 1);
  const float label = theme.scaled(200), gap = ImGui::GetStyle().ItemSpacing.y;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float height =
      std::clamp(room.y / static_cast<float>(count) - gap, theme.scaled(18), theme.scaled(44));
  const float width = std::max(room.x - label, theme.scaled(80));
  for (std::size_t c = 0; c < k_buffer_classes; ++c) {
    if (!used[c]) continue;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float middle = at.y + (height - ImGui::GetTextLineHeight()) / 2;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddText({at.x, middle}, theme.dimmed, class_title(static_cast<BufferClass>(c)).c_str());
    const std::string bytes = shelves[c].bytes.value > 0 ? to_string(shelves[c].bytes) : "";
    list.AddText({at.x + label - theme.scaled(10) - ImGui::CalcTextSize(bytes.c_str()).x, middle}, theme.text,
                 bytes.c_str());
    list.AddRectFilled({at.x + label, at.y + height - 1}, {at.x + label + width, at.y + height},
                       theme.border);
    float x = at.x + label;
    for (const view::ShownBuffer* buffer : shelves[c].buffers) {
      const float wide =
          std::max(width * static_cast<float>(buffer->bytes.value) / static_cast<float>(most.value), 1.0F);
      draw_box(run, *buffer, {x, at.y}, {std::max(x + wide - 1, x + 1), at.y + height}, theme);
      x += wide;
    }
    ImGui::Dummy({room.x, height});
  }
}

}  // namespace shardlab::gui
