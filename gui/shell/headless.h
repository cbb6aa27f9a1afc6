// A window's frames without a window: for pictures and tests. Time and input are what the caller says.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "gui/shell/shell.h"
#include "gui/widgets/picture.h"

namespace shardlab::gui {

class Headless {
 public:
  // Makes the Dear ImGui and ImPlot contexts; one at a time. `size` in pixels.
  Headless(ImVec2 size, float scale);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  // The shell to draw from now on; must be made after this and end before it.
  void show(Shell& shell) { shell_ = &shell; }
  Fonts fonts() const { return fonts_; }

  // One frame of 1/60 s. The session is updated first.
  void frame(Session& session);
  // Frames until no thread makes anything that will be shown, and then some more, over which panels lay out
  // what they were given. False when that does not come in the time that is given.
  bool draw_until_still(Session& session, std::chrono::milliseconds patience);
  double now() const { return now_; }
  void resize(ImVec2 size);
  // Changes the scale, as when the window is dragged to another screen.
  void move_to_monitor(float scale) { scale_ = scale; }

  // What the last frame looks like.
  Picture picture() const;

 private:
  Fonts fonts_;
  float scale_;
  Shell* shell_ = nullptr;
  double now_ = 0;
};

}  // namespace shardlab::gui
