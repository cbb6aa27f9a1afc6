// Options that several commands share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/cli/option_parser.h"

namespace shardlab {

struct CommonOptions {
  std::string database;                // --db; empty: default_database_path()
  std::vector<std::string> overrides;  // --set key=value, in order
  std::string progress;                // --progress; "line" or "json", empty: line
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

// Which of the common options a command accepts; --json, --quiet, --verbose and --help always are.
struct CommonUse {
  bool database = false;
  bool overrides = false;
  bool progress = false;
};

void add_common_options(OptionParser& parser, CommonUse use, CommonOptions& options);

// The same list as names with a value, for finding the command among the arguments.
bool common_option_takes_value(std::string_view name);

}  // namespace shardlab
