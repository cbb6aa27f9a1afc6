// Pictures are taken when what they show is there.
#include <atomic>
#include <chrono>
#include <thread>

#include "gui/shell/headless.h"
#include "tests/catch.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {
namespace {

using namespace std::chrono_literals;

// Its content comes after a while, longer than 120 frames take to draw.
class SlowPanel final : public Panel {
 public:
  explicit SlowPanel(std::chrono::milliseconds takes) : ready_at_(std::chrono::steady_clock::now() + takes) {}
  PanelInfo info() const override { return {.id = "slow", .title = "Slow", .help = "Slow"}; }
  void draw(PanelContext&) override { ++(busy() ? frames_busy : frames_ready); }
  bool busy() const override { return std::chrono::steady_clock::now() < ready_at_; }

  static inline int frames_busy = 0, frames_ready = 0;

 private:
  std::chrono::steady_clock::time_point ready_at_;
};

struct OnePanel {
  explicit OnePanel(std::chrono::milliseconds takes)
      : headless({300, 200}, 1),
        shell(session, panels(takes), headless.fonts(),
              {.only_panel = "slow", .remembers = false, .preferences_file = {}}) {
    headless.show(shell);
    SlowPanel::frames_busy = SlowPanel::frames_ready = 0;
  }
  static std::vector<std::unique_ptr<Panel>> panels(std::chrono::milliseconds takes) {
    std::vector<std::unique_ptr<Panel>> list;
    list.push_back(std::make_unique<SlowPanel>(takes));
    return list;
  }
  Session session;
  Headless headless;
  Shell shell;
};

}  // namespace

TEST_CASE("frames are drawn until nothing is at work, and some more") {
  OnePanel one(1500ms);
  REQUIRE(one.headless.draw_until_still(one.session, 60s));
  CHECK(SlowPanel::frames_busy > 0);
  CHECK(SlowPanel::frames_ready > 10);
}

TEST_CASE("what never ends is given up, and said") {
  OnePanel one(1h);
  CHECK_FALSE(one.headless.draw_until_still(one.session, 50ms));
}

TEST_CASE("a session is at work while it predicts, and what follows a prediction counts too") {
  Session session;
  CHECK_FALSE(session.busy());
  session.open_text(small_scenario());
  CHECK(session.busy());
  REQUIRE(session.settle());
  session.update(session.now());
  CHECK_FALSE(session.busy());
  session.explain_memory();
  CHECK(session.busy());
}

TEST_CASE("a session that does not settle says so") {
  Session session;
  session.open_text(small_scenario());
  CHECK_FALSE(session.settle(0));
  REQUIRE_FALSE(session.messages().all().empty());
  CHECK(session.messages().all().back().text.find("still at work") != std::string::npos);
  CHECK(session.settle());
  CHECK(session.messages().all().empty());
}

}  // namespace shardlab::gui
