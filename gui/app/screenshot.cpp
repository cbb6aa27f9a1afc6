#include "gui/app/screenshot.h"

#include <chrono>
#include <thread>

#include "engine/base/nearest.h"
#include "gui/app/start_session.h"
#include "gui/shell/headless.h"
#include "gui/shell/panel.h"

namespace shardlab::gui {
namespace {

Status known_panel(const std::string& name, const std::vector<std::unique_ptr<Panel>>& panels) {
  std::vector<std::string> names;
  for (const auto& panel : panels) names.push_back(panel->info().id);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return {};
  return bad_input("--panel", "there is no panel '" + name + "'", suggestion(name, names));
}

}  // namespace

Status take_screenshot(const GuiOptions& options) {
  std::vector<std::unique_ptr<Panel>> panels = make_panels();
  SHARDLAB_CHECK_OK(known_panel(options.panel, panels));
  Session session;
  start_session(session, options);
  session.settle();
  choose_as_asked(session, options);
  Headless headless({static_cast<float>(options.width), static_cast<float>(options.height)},
                    options.scale > 0 ? static_cast<float>(options.scale) : 1);
  Shell shell(session, std::move(panels), headless.fonts(),
              {.only_panel = options.panel, .remembers = false, .preferences_file = {}});
  headless.show(shell);
  // Panels read their data on other threads and lay out over several frames: two seconds of the window's
  // time.
  for (int i = 0; i < 120; ++i) {
    headless.frame(session);
    if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return write_png(headless.picture(), options.screenshot);
}

}  // namespace shardlab::gui
