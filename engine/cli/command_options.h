// Options that several commands share, and strict reading of a command's arguments.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "engine/base/result.h"

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

void add_common_options(CLI::App& app, CommonUse use, CommonOptions& options);

// The same list as names with a value, for finding the command among the arguments.
bool common_option_takes_value(std::string_view name);

// Reads the arguments into what the app's options are bound to. An unknown option is bad_input with the
// nearest known name. Returns true when --help was asked for.
Result<bool> parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace shardlab
