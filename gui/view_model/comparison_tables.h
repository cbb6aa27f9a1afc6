// The tables of a RunComparison. Private to this folder.
//
// Each has a first column that names the row, a column a run, and for each run but the reference a column of
// errors, or of differences where the two are not a prediction and the measurement of one plan.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/view_model/data_table.h"
#include "gui/view_model/instruction_figures.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

struct ComparedFigures {
  LoadedRunPtr run;
  std::string title;  // among those that it is compared with
  std::vector<std::optional<InstructionFigures>> instructions;
};

// Shared: the tables keep them, to say why.
using ComparedRuns = std::shared_ptr<const std::vector<ComparedFigures>>;

DataTable totals_table(const ComparedRuns& compared, std::size_t reference);
DataTable classes_table(const ComparedRuns& compared, std::size_t reference);
DataTable kinds_table(const ComparedRuns& compared, std::size_t reference);
DataTable units_table(const ComparedRuns& compared, std::size_t reference);

// The instructions with the largest difference in time, of the runs `joined` that follow the reference's
// plan.
DataTable worst_table(const ComparedRuns& compared, std::size_t reference,
                      const std::vector<std::size_t>& joined);

}  // namespace shardlab::view
