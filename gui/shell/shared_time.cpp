#include "gui/shell/shared_time.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gui/view_model/time_scale.h"

namespace shardlab::gui {
namespace {

constexpr double k_margin = 0.02;       // of the step, beyond its ends
constexpr double k_closest_zoom = 100;  // ns

// Neighbouring labels have half a label's height and more between them.
void set_up_ticks(double from, double to, float width) {
  const double visible = to - from;
  const auto pixels = [visible](double time) {
    return ImGui::CalcTextSize(view::axis_time(time, visible).c_str()).x;
  };
  const float label = std::max(pixels(from), pixels(to)) + 1.5F * ImGui::GetFontSize();
  const std::vector<double> places =
      view::tick_places(from, to, std::max(2, static_cast<int>(width / label)));
  std::vector<std::string> texts;
  for (const double place : places) texts.push_back(view::axis_time(place, visible));
  std::vector<const char*> labels;
  for (const std::string& text : texts) labels.push_back(text.c_str());
  ImPlot::SetupAxisTicks(ImAxis_X1, places.data(), static_cast<int>(places.size()), labels.data());
}

TimeRange range_of(double min, double max) {
  return {Nanoseconds{std::llround(min)}, Nanoseconds{std::llround(max)}};
}

}  // namespace

SharedTime::SharedTime(const Session& session, Nanoseconds end)
    : end_(std::max(static_cast<double>(end.value), k_closest_zoom)),
      min_(-k_margin * end_),
      max_((1 + k_margin) * end_) {
  if (const auto& chosen = session.selection().visible_time()) {
    min_ = static_cast<double>(chosen->begin.value);
    max_ = std::max(static_cast<double>(chosen->end.value), min_ + k_closest_zoom);
  }
  before_min_ = min_;
  before_max_ = max_;
}

void SharedTime::set_up_axis(float width) {
  ImPlot::SetupAxis(ImAxis_X1, nullptr, ImPlotAxisFlags_NoInitialFit);
  ImPlot::SetupAxisLinks(ImAxis_X1, &min_, &max_);
  set_up_ticks(min_, max_, width);
  ImPlot::SetupAxisLimitsConstraints(ImAxis_X1, -end_ * 0.1, end_ * 1.1);
  ImPlot::SetupAxisZoomConstraints(ImAxis_X1, k_closest_zoom, end_ * 1.2);
}

void SharedTime::share(Session& session) const {
  if (std::abs(min_ - before_min_) < 0.5 && std::abs(max_ - before_max_) < 0.5) return;
  session.selection().show_time(range_of(min_, max_));
}

void show_whole_step(Session& session) {
  session.selection().show_time(std::nullopt);
}

void show_place(Session& session, TimeInterval place, Nanoseconds end) {
  const std::int64_t around =
      std::max((place.end - place.begin).value, static_cast<std::int64_t>(k_closest_zoom)) / 2;
  const auto margin = static_cast<std::int64_t>(k_margin * static_cast<double>(end.value));
  session.selection().show_time(
      TimeRange{Nanoseconds{std::max(place.begin.value - around, -margin)},
                Nanoseconds{std::min(place.end.value + around, end.value + margin)}});
}

void bring_into_view(Session& session, Nanoseconds begin, Nanoseconds end, Nanoseconds of) {
  const auto& seen = session.selection().visible_time();
  if (!seen || (begin >= seen->begin && end <= seen->end)) return;
  constexpr std::int64_t k_context = 8;  // times the interval
  const std::int64_t wide =
      std::min(std::max((seen->end - seen->begin).value, (end - begin).value * k_context), of.value);
  const std::int64_t middle = (begin.value + end.value) / 2;
  session.selection().show_time(TimeRange{Nanoseconds{middle - wide / 2}, Nanoseconds{middle + wide / 2}});
}

}  // namespace shardlab::gui
