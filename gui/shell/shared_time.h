// The time axis that panels share: what one shows, all show.
#pragma once

#include <functional>
#include <string>

#include <implot.h>

#include "engine/trace/exposed_communication.h"
#include "gui/session/session.h"

namespace shardlab::gui {

class SharedTime {
 public:
  // What is visible now; all of it, [0, end], while nobody has chosen a part.
  SharedTime(const Session& session, Nanoseconds end);

  // Between ImPlot::BeginPlot() and its SetupFinish(): the x axis in nanoseconds, with as many readable times
  // as have room in so many pixels.
  void set_up_axis(float width);
  // After ImPlot::EndPlot(): what the user zoomed or panned to becomes everybody's.
  void share(Session& session) const;

  double min() const { return min_; }
  double max() const { return max_; }

 private:
  double end_;
  double min_, max_;
  double before_min_, before_max_;
};

// Shows all of the step again.
void show_whole_step(Session& session);
// Shows a place of the step with as much around it as it is long.
void show_place(Session& session, TimeInterval place, Nanoseconds end);
// Moves the visible part so that the interval is in it, and widens it when the interval would be hardly seen.
void bring_into_view(Session& session, Nanoseconds begin, Nanoseconds end, Nanoseconds of);

}  // namespace shardlab::gui
