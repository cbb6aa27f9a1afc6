// What `search` and `recommend` share: options, the search itself, and writing what is recommended.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/command.h"
#include "simulator/search/report/search_report.h"

namespace shardlab {

struct SearchSettings {
  std::string file;
  std::string results;  // where results are kept; empty: beside the file
  std::string largest;
  std::vector<std::string> why;
  int threads = 0;  // 0: as many as the machine has
  int seconds = 0;  // 0: until the end
  int best = 2;     // so many of the best of each order are exact
  bool fewest_gpus = false;
  bool exhaustive = false;
  bool no_store = false;
  bool no_calibration = false;
  bool recommends = false;  // answers are what is recommended
};

void add_search_options(OptionParser& parser, SearchSettings& settings);

// Reads the file, searches and hands the report on; its result is that of `show`. Errors: bad_input, with the
// place, for a file, a place for results or an option that cannot be used, and where no combination is
// possible; run_failed where results cannot be kept.
Result<int> search_for(CommandContext& context, const SearchSettings& settings,
                       const std::function<Result<int>(const SearchReport&)>& show);

// The scenario with the settings that are recommended, complete and readable from any folder. bad_input when
// the file cannot be written.
Status write_recommended(const SearchReport& report, const Leader& leader, const std::string& file);

}  // namespace shardlab
