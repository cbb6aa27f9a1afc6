// Files of other tools as a scenario, by the code of `shardlab import`, with what is to be told of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab::gui {

struct ConfigurationFiles {
  std::vector<std::filesystem::path> files;  // of one training
  // The open scenario, which is asked for what the files do not say; an empty path: none is open.
  std::filesystem::path open_file;
  std::string open_text;
};

struct ImportedConfiguration {
  std::string text;          // of the scenario; everything that is to be known stands at its head
  std::string files;         // in words, with the tools whose they are
  bool is_put_onto = false;  // the open scenario
  std::vector<std::string> lost, warnings;  // a line each, printable
  std::size_t others = 0;                   // further lines, at the head of the text alone
};

// The files alone where they say all that a scenario needs, else put onto the open one. Errors: those of
// make_import(), with hints for the window. Threads may call it.
Result<ImportedConfiguration> import_configuration(const ConfigurationFiles& asked);

// At most so many of the lines as one text; how many are left out is the last.
std::string first_lines(const std::vector<std::string>& lines, std::size_t most);

}  // namespace shardlab::gui
