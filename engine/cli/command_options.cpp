#include "engine/cli/command_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

constexpr std::array<std::string_view, 3> k_common_with_value = {"--db", "--set", "--progress"};

bool is_option(std::string_view token) {
  return token.size() > 1 && token[0] == '-' && token != "--";
}

std::string_view option_name(std::string_view token) {
  return token.substr(0, token.find('='));
}

std::vector<std::string> known_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Before the library looks at anything, so that a misspelled option is not taken for a missing or surplus
// argument.
Status check_option_names(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> known = known_names(app);
  for (const std::string& token : arguments) {
    if (token == "--") break;
    if (!is_option(token)) continue;
    const bool is_long = token[1] == '-';
    const std::string name(is_long ? option_name(token) : std::string_view(token).substr(0, 2));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest_name(name, known);
    return bad_input(
        app.get_name(), "unknown option '" + name + "'",
        near ? "did you mean '" + *near + "'?" : "`" + app.get_name() + " --help` lists the options");
  }
  return {};
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> rest = app.remaining();
    if (!rest.empty()) return "unexpected argument '" + rest.front() + "'";
  }
  return error.what();
}

}  // namespace

void add_common_options(CLI::App& app, CommonUse use, CommonOptions& options) {
  const std::string group = "Common options";
  if (use.database) {
    app.add_option("--db", options.database,
                   "SQLite file of runs [$SHARDLAB_DB, else ~/.local/share/shardlab/shardlab.db]")
        ->type_name("FILE")
        ->group(group);
  }
  if (use.overrides) {
    app.add_option("--set", options.overrides, "Replace a field of the scenario; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false)
        ->take_all()
        ->group(group);
  }
  if (use.progress) {
    app.add_option(
           "--progress", options.progress,
           "How long work is watched: a line on a terminal, or json: an event a line on stderr [line]")
        ->type_name("line|json")
        ->check(CLI::IsMember({"line", "json"}))
        ->group(group);
  }
  app.add_flag("--json", options.json, "Print one JSON document (docs/json.md)")->group(group);
  app.add_flag("-q,--quiet", options.quiet, "No progress and no notes")->group(group);
  app.add_flag("-v,--verbose", options.verbose, "Say more about what is being done")->group(group);
}

bool common_option_takes_value(std::string_view name) {
  return std::find(k_common_with_value.begin(), k_common_with_value.end(), name) != k_common_with_value.end();
}

Result<bool> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments) {
  SHARDLAB_CHECK_OK(check_option_names(app, arguments));
  try {
    app.parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // the library wants them reversed
  } catch (const CLI::CallForHelp&) {
    return true;
  } catch (const CLI::ParseError& error) {
    return bad_input(app.get_name(), usage_problem(app, error),
                     "`" + app.get_name() + " --help` shows how it is used");
  }
  return false;
}

}  // namespace shardlab
