// How a run of exported files differs from the scenario, and what of that somebody accepted.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gui/view_model/data_table.h"
#include "gui/view_model/exports/prepared_export.h"

namespace shardlab::view {

struct DifferenceLine {
  std::string setting;
  std::string change;  // "false -> true"; of settings elsewhere the line of the program
  std::string effect;  // "step 229 ms (+3.2 %), peak 40.2 GiB (-1.0 %)", "not predicted"; may be empty
  std::string why;
  // Which loss it is: that of another value is another one.
  std::tuple<std::string, std::string, std::string, std::string> identity;
};

// All texts are printable.
struct ExportView {
  std::vector<DifferenceLine> lost, added, elsewhere;  // in the order of docs/scenario.md
  DataTable steps;  // of the scenario, and of the files where they run something else
  std::string
      prediction;  // what is to be said of it: why there is none, what it leaves out, what does not fit
};

// The export has neither an error nor a refusal.
ExportView view_export(const MadeExport& made);

// Losses that somebody accepted, for as long as they are the same: of the same target, from the same value to
// the same one.
class AcceptedLosses {
 public:
  bool has(const DifferenceLine& loss) const { return accepted_.contains(loss.identity); }
  void set(const DifferenceLine& loss, bool accepted);
  // Nothing is written while there is one.
  std::size_t missing(const std::vector<DifferenceLine>& lost) const;

 private:
  std::set<decltype(DifferenceLine::identity)> accepted_;
};

}  // namespace shardlab::view
