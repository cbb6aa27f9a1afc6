#include "gui/app/gui_options.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "gui/widgets/theme.h"

namespace shardlab::gui {
namespace {

// The number that a text is, the largest for one that is larger; nothing where it is none.
std::optional<std::int64_t> pixels_in(std::string_view text) {
  std::int64_t pixels = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pixels);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc() ? pixels : std::numeric_limits<std::int64_t>::max();
}

// "1440x900".
Status read_size(std::string_view text, GuiOptions& options) {
  constexpr std::int64_t k_least = 100, k_most = 8192;
  const std::size_t cross = std::min(text.find('x'), text.size());
  const auto width = pixels_in(text.substr(0, cross));
  const auto height = pixels_in(text.substr(std::min(cross + 1, text.size())));
  if (!width || !height)
    return bad_input("--size", fmt::format("expected WIDTHxHEIGHT, found '{}'", text),
                     "for example 1440x900");
  if (std::min(*width, *height) < k_least || std::max(*width, *height) > k_most)
    return bad_input("--size", fmt::format("'{}' is too small or too large", text),
                     fmt::format("width and height are {} to {} pixels", k_least, k_most));
  options.width = static_cast<int>(*width);
  options.height = static_cast<int>(*height);
  return {};
}

// Written so that it holds for no NaN, which is in no range and outside of none.
Status check_scale(double scale) {
  constexpr double k_least = 0.5, k_most = 4;
  if (scale >= k_least && scale <= k_most) return {};
  return bad_input("--scale", fmt::format("{} is too small or too large", scale),
                   fmt::format("a number from {} to {}", k_least, k_most));
}

Status check_share(double share) {
  if (share >= 0 && share <= 1) return {};
  return bad_input("--played", fmt::format("{} is no share", share), "a number from 0 to 1");
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
  const CLI::Option* const scale =
      app.add_option("--scale", options.scale, "Of text and lines, 0.5 to 4 [the monitor's]");
  app.add_option("--select", options.select, "Choose the instruction of this number")->type_name("N");
  app.add_option("--played", options.played, "How much of it the step player shows as done, 0 to 1 [1]")
      ->type_name("SHARE");
  app.add_option("--runs", options.runs, "Choose these runs, separated by commas")->type_name("RUNS");
  app.add_option("--edit", options.edit, "Keep the prediction as the baseline, then make this setting")
      ->type_name("KEY=VALUE");
  app.add_option("--log", options.log, "Examine this log of a job")->type_name("FILE");
  app.add_option("--lesson", options.lesson, "Open this lesson: its number, a part of its name, a folder")
      ->type_name("LESSON");
  app.add_option("--lesson-step", options.lesson_step, "At this step [where it was left]")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--items", options.items, "Keep a file (JSON) of where every widget is, for scripts")
      ->type_name("FILE");
  app.add_flag("--time-start", options.time_start, "Say when the first frame was shown, and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    return bad_input("shardlab gui", error.what(), "shardlab gui --help");
  }
  if (scale->count() > 0) SHARDLAB_CHECK_OK(check_scale(options.scale));
  SHARDLAB_CHECK_OK(check_share(options.played));
  SHARDLAB_CHECK_OK(read_size(size, options));
  return options;
}

}  // namespace shardlab::gui
