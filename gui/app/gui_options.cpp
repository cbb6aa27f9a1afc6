#include "gui/app/gui_options.h"

#include <cstdio>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "gui/widgets/theme.h"

namespace shardlab::gui {
namespace {

// "1440x900".
Status read_size(const std::string& text, GuiOptions& options) {
  constexpr int k_least = 100, k_most = 8192;
  char surplus = 0;
  const int found = std::sscanf(text.c_str(), "%dx%d%c", &options.width, &options.height, &surplus);
  const bool fits = options.width >= k_least && options.width <= k_most && options.height >= k_least &&
                    options.height <= k_most;
  if (found != 2 || !fits)
    return bad_input("--size", "expected WIDTHxHEIGHT, found '" + text + "'",
                     "for example 1440x900, up to 8192");
  return {};
}

}  // namespace

Result<std::variant<GuiOptions, std::string>> read_options(int argc, const char* const* argv) {
  GuiOptions options;
  std::string size = "1440x900";
  CLI::App app("The desktop window: explore, watch, compare", "shardlab gui");
  app.add_option("scenario", options.scenario, "Scenario file")->type_name("FILE");
  app.add_option("--db", options.database, "Database of runs")->type_name("FILE");
  app.add_option("--screenshot", options.screenshot, "Write a picture (PNG) instead; needs no display")
      ->type_name("FILE");
  app.add_option("--panel", options.panel, "Only this panel in the picture")->type_name("NAME");
  app.add_option("--size", size, "Of the picture or window in pixels [1440x900]")->type_name("WxH");
  app.add_option("--theme", options.theme, "dark or light")->check(CLI::IsMember(all_words<ThemeKind>()));
  app.add_option("--scale", options.scale, "Of text and lines [the monitor's]")->check(CLI::Range(0.5, 4.0));
  app.add_option("--select", options.select, "Choose the instruction of this number")->type_name("N");
  app.add_option("--runs", options.runs, "Choose these runs, separated by commas")->type_name("RUNS");
  app.add_option("--edit", options.edit, "Keep the prediction as the baseline, then make this setting")
      ->type_name("KEY=VALUE");
  app.add_option("--log", options.log, "Examine this log of a job")->type_name("FILE");
  app.add_option("--lesson", options.lesson, "Open this lesson: its number, a part of its name, a folder")
      ->type_name("LESSON");
  app.add_option("--lesson-step", options.lesson_step, "At this step [where it was left]")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--time-start", options.time_start, "Say when the first frame was shown, and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    return bad_input("shardlab gui", error.what(), "shardlab gui --help");
  }
  SHARDLAB_CHECK_OK(read_size(size, options));
  return options;
}

}  // namespace shardlab::gui
