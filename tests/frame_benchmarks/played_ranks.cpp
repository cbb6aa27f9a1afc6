// The processor's time for a frame of the step player while it plays lesson 4's step on four ranks: states,
// boxes and moving parts. Prints how much of a frame at 60 a second that is. Fails when it did not play.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "gui/session/session.h"
#include "gui/shell/headless.h"
#include "gui/shell/panel.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::gui;

namespace {

constexpr double k_frame_ms = 1000.0 / 60;
constexpr double k_speed = 8;  // instructions a second

// The processor time of this thread: what other programs do meanwhile is not in it.
double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Each frame of a play from the first instruction to the last.
std::vector<double> play(Headless& headless, Session& session) {
  std::vector<double> times;
  const std::size_t count = session.prediction()->plan().instructions.size();
  const auto frames = static_cast<std::size_t>(static_cast<double>(count) * 60 / k_speed);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const double at = static_cast<double>(frame) * k_speed / 60;
    session.choose(make_id<InstructionId>(static_cast<std::size_t>(at)));
    session.selection().show_played(at - static_cast<double>(static_cast<std::size_t>(at)));
    const double before = processor_ms();
    headless.frame(session);
    times.push_back(processor_ms() - before);
  }
  return times;
}

}  // namespace

int main() {
  Session session;
  session.open(test::source_folder() / "scenarios/lessons/04-unit-by-unit/tiny.yaml");
  session.set("cluster.ranks", "4");
  session.settle();
  if (!session.prediction() || session.stale()) {
    fmt::print("{}\n", session.problem() ? to_string(*session.problem()) : "no prediction");
    return 1;
  }
  Headless headless({1200, 640}, 1);
  Shell shell(session, make_panels(), headless.fonts(),
              {.only_panel = "player", .remembers = false, .preferences_file = {}});
  headless.show(shell);
  for (int i = 0; i < 10; ++i) headless.frame(session);  // letters are drawn for the first time
  std::vector<double> times = play(headless, session);
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2], slow = times[times.size() * 99 / 100];
  fmt::print(
      "4 ranks at 60 frames a second: {:.2f} ms median, {:.2f} ms in one of a hundred of {} frames: "
      "{:.1f} % and {:.1f} % of a frame's {:.1f} ms\n",
      median, slow, times.size(), 100 * median / k_frame_ms, 100 * slow / k_frame_ms, k_frame_ms);
  // Boxes of four ranks are some hundred rectangles.
  const int vertices = ImGui::GetDrawData()->TotalVtxCount;
  fmt::print("{} vertices\n", vertices);
  return session.chosen() && vertices > 1000 ? 0 : 1;
}
