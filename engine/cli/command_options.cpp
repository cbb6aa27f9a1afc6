#include "engine/cli/command_options.h"

#include <algorithm>
#include <array>

namespace shardlab {
namespace {

constexpr std::array<std::string_view, 3> k_common_with_value = {"--db", "--set", "--progress"};

}  // namespace

void add_common_options(OptionParser& parser, CommonUse use, CommonOptions& options) {
  constexpr const char* group = "Common options";
  if (use.database) {
    parser
        .value("--db", options.database,
               "SQLite file of runs [$SHARDLAB_DB, else ~/.local/share/shardlab/shardlab.db]")
        .type("FILE")
        .group(group);
  }
  if (use.overrides) {
    parser.value("--set", options.overrides, "Replace a field of the scenario; may be repeated")
        .type("KEY=VALUE")
        .repeatable()
        .group(group);
  }
  if (use.progress) {
    parser
        .value("--progress", options.progress,
               "How long work is watched: a line on a terminal, or json: an event a line on stderr [line]")
        .type("line|json")
        .one_of({"line", "json"})
        .group(group);
  }
  parser.flag("--json", options.json, "Print one JSON document (docs/json.md)").group(group);
  parser.flag("-q,--quiet", options.quiet, "No progress and no notes").group(group);
  parser.flag("-v,--verbose", options.verbose, "Say more about what is being done").group(group);
}

bool common_option_takes_value(std::string_view name) {
  return std::find(k_common_with_value.begin(), k_common_with_value.end(), name) != k_common_with_value.end();
}

}  // namespace shardlab
