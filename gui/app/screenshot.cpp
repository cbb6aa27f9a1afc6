#include "gui/app/screenshot.h"

#include <chrono>

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

constexpr std::chrono::minutes k_patience{2};

Status still_at_work() {
  return not_possible("--screenshot", "the window was still at work after two minutes",
                      "a smaller scenario, fewer runs, or a machine with less to do");
}

}  // namespace

Status take_screenshot(const GuiOptions& options) {
  std::vector<std::unique_ptr<Panel>> panels = make_panels();
  SHARDLAB_CHECK_OK(known_panel(options.panel, panels));
  Session session;
  start_session(session, options);
  if (!session.settle()) return still_at_work();
  choose_as_asked(session, options);
  Headless headless({static_cast<float>(options.width), static_cast<float>(options.height)},
                    options.scale > 0 ? static_cast<float>(options.scale) : 1);
  Shell shell(session, std::move(panels), headless.fonts(),
              {.only_panel = options.panel, .remembers = false, .preferences_file = {}});
  headless.show(shell);
  if (!headless.draw_until_still(session, k_patience)) return still_at_work();
  return write_png(headless.picture(), options.screenshot);
}

}  // namespace shardlab::gui
