#include "gui/panels/player/buffer_box.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/with_spaces.h"
#include "gui/view_model/player/content_words.h"

namespace shardlab::gui {
namespace {

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

float stripe(const Theme& theme) {
  return std::max(theme.scaled(3), 2.0F);
}

// In words where they fit, else as the plan's text names it, else not; not over parts, which say more.
void draw_name(const DrawnBuffer& drawn, const Box& box, const Theme& theme) {
  const Buffer& buffer = drawn.run.plan().buffer(drawn.shown.buffer);
  const float room = box.max.x - box.min.x;
  if (room < theme.scaled(40) || drawn.content.parts > 1) return;
  for (const std::string& text : {to_words(drawn.run.words().buffer(drawn.shown.buffer)), buffer.name}) {
    const ImVec2 size = theme.fonts.text->CalcTextSizeA(theme.scaled(k_small_size), FLT_MAX, 0, text.c_str());
    if (size.x + theme.scaled(8) >= room) continue;
    const bool on_colour = drawn.content.own_there > 0.5 && drawn.content.others_there > 0.5;
    const ImU32 colour = on_colour ? text_on(colour_of(theme, buffer.buffer_class)) : theme.text;
    ImGui::GetWindowDrawList()->AddText(theme.fonts.text, theme.scaled(k_small_size),
                                        {box.min.x + theme.scaled(4), box.centre().y - size.y / 2}, colour,
                                        text.c_str());
    return;
  }
}

void fill(const Box& box, double level, ImU32 colour, const Theme& theme) {
  const float top = box.max.y - (box.max.y - box.min.y) * static_cast<float>(level);
  ImGui::GetWindowDrawList()->AddRectFilled({box.min.x, top}, box.max, colour, theme.scaled(2));
}

// From the left, along the upper edge.
void draw_stripe(const Box& box, double share, const Theme& theme) {
  if (share <= 0) return;
  const float right = box.min.x + (box.max.x - box.min.x) * static_cast<float>(share);
  ImGui::GetWindowDrawList()->AddRectFilled(box.min, {right, box.min.y + stripe(theme)}, theme.good);
}

// What is on either side of the rank's own part belongs to others.
void fill_parts(const view::BufferContent& content, const Box& box, const Box& own, ImU32 colour,
                const Theme& theme) {
  if (content.parts == 1 || content.own_there == content.others_there)
    return fill(box, content.own_there, colour, theme);
  fill(own, content.own_there, colour, theme);
  for (const Box& rest : {Box{box.min, {own.min.x, box.max.y}}, Box{{own.max.x, box.min.y}, box.max}}) {
    if (rest.max.x > rest.min.x) fill(rest, content.others_there, colour, theme);
  }
}

void draw_content(const view::BufferContent& content, const Box& box, ImU32 colour, const Theme& theme) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(box.min, box.max, faded(colour, 0.22F), theme.scaled(2));
  const Box own = box.part(content.own, content.parts);
  fill_parts(content, box, own, faded(colour, 0.9F), theme);
  if (content.summed_ranks > 1) {
    if (content.parts > 1) draw_stripe(box, content.others_summed, theme);
    draw_stripe(own, content.own_summed, theme);
  }
  if (content.parts == 1 || own.max.x - own.min.x < theme.scaled(4)) return;
  for (int place = 1; place < content.parts; ++place) {
    const float x = box.part(place, content.parts).min.x;
    list.AddLine({x, box.min.y}, {x, box.max.y}, theme.panel);
  }
}

void explain(const DrawnBuffer& drawn) {
  const Buffer& buffer = drawn.run.plan().buffer(drawn.shown.buffer);
  std::string text = to_words(drawn.run.words().buffer(drawn.shown.buffer)) + "\n" + buffer.name + ", " +
                     with_spaces(to_string(buffer.buffer_class)) + "\n" + view::size_in_words(buffer) + "\n";
  if (!drawn.rank.empty()) text += drawn.rank + ": ";
  const std::string content = view::content_in_words(drawn.content);
  text += (content.empty() ? "" : content + "; ") + motion_text(drawn.shown.motion);
  ImGui::SetTooltip("%s", text.c_str());
}

// Lengths of the legend: a mark, from there to its name, and to the next mark.
constexpr float k_mark = 11, k_gap = 6, k_apart = 14;

// Something that boxes are marked with, and what it means.
struct Mark {
  const char* name;
  view::BufferMotion motion;  // rest: the stripe
};

std::vector<Mark> marks(bool several_ranks) {
  std::vector<Mark> list = {{"read", view::BufferMotion::read},
                            {"written", view::BufferMotion::written},
                            {"freed", view::BufferMotion::emptying}};
  if (several_ranks) list.push_back({"added up over ranks", view::BufferMotion::rest});
  return list;
}

void draw_mark(const Mark& mark, const Box& box, const Theme& theme) {
  if (mark.motion != view::BufferMotion::rest) {
    ImGui::GetWindowDrawList()->AddRect(box.min, box.max, edge_of(mark.motion, theme), theme.scaled(2), 0,
                                        theme.scaled(2));
    return;
  }
  const ImU32 colour = colour_of(theme, BufferClass::gradient_shard);
  ImGui::GetWindowDrawList()->AddRectFilled(box.min, box.max, faded(colour, 0.9F), theme.scaled(2));
  draw_stripe(box, 1, theme);
}

}  // namespace

Box Box::part(int place, int parts) const {
  const float each = (max.x - min.x) / static_cast<float>(parts);
  const float left = min.x + each * static_cast<float>(place);
  return {{left, min.y}, {place + 1 == parts ? max.x : left + each, max.y}};
}

void draw_box(const DrawnBuffer& drawn, const Box& box, const Theme& theme) {
  const Buffer& buffer = drawn.run.plan().buffer(drawn.shown.buffer);
  draw_content(drawn.content, box, colour_of(theme, buffer.buffer_class), theme);
  if (drawn.shown.motion != view::BufferMotion::rest) {
    // The edge leaves something of a narrow box to be seen.
    const float thick = std::max(std::min(theme.scaled(2), (box.max.x - box.min.x) / 4), 1.0F);
    ImGui::GetWindowDrawList()->AddRect(box.min, box.max, edge_of(drawn.shown.motion, theme), theme.scaled(2),
                                        0, thick);
  }
  draw_name(drawn, box, theme);
  if (ImGui::IsMouseHoveringRect(box.min, box.max) && ImGui::IsWindowHovered()) explain(drawn);
}

float box_legend_width(bool several_ranks, const Theme& theme) {
  float width = -theme.scaled(k_apart);
  for (const Mark& each : marks(several_ranks))
    width += theme.scaled(k_mark + k_gap + k_apart) + ImGui::CalcTextSize(each.name).x;
  return width;
}

void draw_box_legend(bool several_ranks, const Theme& theme) {
  const float size = theme.scaled(k_mark);
  ImVec2 at = ImGui::GetCursorScreenPos();
  for (const Mark& each : marks(several_ranks)) {
    const float top = at.y + (ImGui::GetTextLineHeight() - size) / 2;
    draw_mark(each, {{at.x, top}, {at.x + size, top + size}}, theme);
    at.x += theme.scaled(k_mark + k_gap);
    ImGui::GetWindowDrawList()->AddText(at, theme.dimmed, each.name);
    at.x += ImGui::CalcTextSize(each.name).x + theme.scaled(k_apart);
  }
  ImGui::Dummy({box_legend_width(several_ranks, theme), ImGui::GetTextLineHeight()});
}

}  // namespace shardlab::gui
