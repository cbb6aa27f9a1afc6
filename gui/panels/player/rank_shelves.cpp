#include "gui/panels/player/rank_shelves.h"

#include <algorithm>
#include <string>

#include "engine/base/with_spaces.h"

namespace shardlab::gui {
namespace {

std::size_t index_of(BufferClass buffer_class) {
  return static_cast<std::size_t>(buffer_class);
}

// Every class that the plan has keeps its shelf, empty or not, so that nothing jumps.
std::array<int, k_buffer_classes> places_of(const StepPlan& plan) {
  std::array<bool, k_buffer_classes> used{};
  for (const Buffer& buffer : plan.buffers) used[index_of(buffer.buffer_class)] = true;
  std::array<int, k_buffer_classes> places{};
  int next = 0;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) places[i] = used[i] ? next++ : -1;
  return places;
}

// As wide as what its heading says.
float folded_width(const std::vector<view::LaneState>& lanes, const Theme& theme) {
  if (!lanes.back().lane.folded) return 0;
  const std::string title = title_of(lanes.back().lane);
  return theme.fonts.bold->CalcTextSizeA(theme.scaled(k_small_size), FLT_MAX, 0, title.c_str()).x +
         theme.scaled(16);
}

void draw_label(const Box& shelf, BufferClass buffer_class, Bytes bytes, float width, const Theme& theme) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float middle = shelf.centre().y - ImGui::GetTextLineHeight() / 2;
  const float left = shelf.min.x - width;
  list.AddText({left, middle}, theme.dimmed, with_spaces(to_string(buffer_class)).c_str());
  if (bytes.value <= 0 || width < theme.scaled(200)) return;
  const std::string text = to_string(bytes);
  list.AddText({shelf.min.x - theme.scaled(10) - ImGui::CalcTextSize(text.c_str()).x, middle}, theme.text,
               text.c_str());
}

void draw_ground(const Box& shelf, const Theme& theme) {
  ImGui::GetWindowDrawList()->AddRectFilled({shelf.min.x, shelf.max.y - 1}, shelf.max, theme.border);
}

// What collectives move and what belongs to it, as opposed to activations, batches and single numbers.
bool is_state(BufferClass buffer_class) {
  return index_of(buffer_class) <= index_of(BufferClass::optimizer_state);
}

using BytesOfClasses = std::array<Bytes, k_buffer_classes>;

// The next box of its class: behind those that are there.
Box next_box(const Box& shelf, const view::ShownBuffer& shown, Bytes before, Bytes most) {
  const float scale = (shelf.max.x - shelf.min.x) / static_cast<float>(most.value);
  const float left = shelf.min.x + scale * static_cast<float>(before.value);
  const float wide = std::max(scale * static_cast<float>(shown.bytes.value) - 1, 1.0F);
  return {{left, shelf.min.y}, {left + wide, shelf.max.y}};
}

}  // namespace

ShelfPlaces::ShelfPlaces(const StepPlan& plan, const std::vector<view::LaneState>& lanes, const Theme& theme)
    : places_(places_of(plan)) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const bool several = lanes.size() > 1;
  const auto count = static_cast<float>(std::max(*std::max_element(places_.begin(), places_.end()) + 1, 1));
  const float gap = ImGui::GetStyle().ItemSpacing.y, between = several ? theme.scaled(12) : 0;
  const float heading = several ? 2 * ImGui::GetTextLineHeight() + theme.scaled(6) : 0;
  label_ = theme.scaled(several && room.x < theme.scaled(760) ? 150 : 200);
  shelf_height_ = std::clamp((room.y - heading) / count - gap, theme.scaled(18), theme.scaled(44));
  apart_ = shelf_height_ + gap;
  const float folded = folded_width(lanes, theme);
  const auto single = static_cast<float>(lanes.size() - (folded > 0 ? 1 : 0));
  const float left_over = room.x - label_ - (folded > 0 ? folded : -between) - single * between;
  const float width = std::max(left_over / single, theme.scaled(several ? 64 : 80));
  heading_ = {at, {at.x + room.x, at.y + heading}};
  float x = at.x + label_;
  for (const view::LaneState& lane : lanes) {
    const float wide = lane.lane.folded ? folded : width;
    columns_.push_back({{x, at.y + heading}, {x + wide, at.y + heading + count * apart_}});
    x += wide + between;
  }
}

std::optional<Box> ShelfPlaces::shelf(std::size_t lane, BufferClass buffer_class) const {
  const int place = places_[index_of(buffer_class)];
  if (place < 0) return std::nullopt;
  const Box& column = columns_[lane];
  const float top = column.min.y + apart_ * static_cast<float>(place);
  return Box{{column.min.x, top}, {column.max.x, top + shelf_height_}};
}

ImVec2 ShelfPlaces::size() const {
  return {columns_.back().max.x - heading_.min.x, columns_.front().max.y - heading_.min.y};
}

Bytes ShelfScales::of(BufferClass buffer_class) const {
  return is_state(buffer_class) ? states : others;
}

ShelfScales shelf_scales(const StepPlan& plan, const std::vector<view::BufferLife>& lives) {
  BytesOfClasses live{};
  ShelfScales scales;
  const auto add = [&](BufferId id, std::int64_t sign) {
    const BufferClass buffer_class = plan.buffer(id).buffer_class;
    Bytes& sum = live[index_of(buffer_class)];
    Bytes& most = is_state(buffer_class) ? scales.states : scales.others;
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
  return scales;
}

BoxesOfLanes draw_shelves(const view::LoadedRun& run, const view::BoardFrame& frame,
                          const ShelfScales& scales, const ShelfPlaces& places, const Theme& theme) {
  const StepPlan& plan = run.plan();
  BoxesOfLanes boxes(frame.lanes.size());
  BytesOfClasses bytes{};
  for (std::size_t i = 0; i < frame.lanes.size(); ++i) {
    const view::LaneState& lane = frame.lanes[i];
    if (lane.lane.folded) continue;
    const std::string rank = places.has_heading() ? title_of(lane.lane) : "";
    bytes = {};
    for (std::size_t b = 0; b < lane.contents.size(); ++b) {
      const view::ShownBuffer& shown = frame.buffers.buffers[b];
      const BufferClass buffer_class = plan.buffer(shown.buffer).buffer_class;
      Bytes& before = bytes[index_of(buffer_class)];
      boxes[i].push_back(next_box(*places.shelf(i, buffer_class), shown, before, scales.of(buffer_class)));
      before += shown.bytes;
      draw_box({run, shown, lane.contents[b], rank}, boxes[i].back(), theme);
    }
    for (std::size_t c = 0; c < k_buffer_classes; ++c) {
      if (const auto shelf = places.shelf(i, static_cast<BufferClass>(c))) draw_ground(*shelf, theme);
    }
  }
  for (std::size_t c = 0; c < k_buffer_classes; ++c) {
    const auto buffer_class = static_cast<BufferClass>(c);
    if (const auto shelf = places.shelf(0, buffer_class))
      draw_label(*shelf, buffer_class, bytes[c], places.label_width(), theme);
  }
  return boxes;
}

}  // namespace shardlab::gui
