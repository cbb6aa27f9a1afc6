// From the live tensors up to what the device holds, and what other tools' formulas say beside it, as tables.
#pragma once

#include <vector>

#include "engine/report/explain_memory/memory_sum.h"
#include "engine/report/other_tools/other_tools.h"
#include "gui/view_model/data_table.h"

namespace shardlab::view {

// A row a line of the sum; then, where a limit is known, the limit and what is left of it (less than zero:
// what is missing). No rows where there is no sum.
DataTable memory_sum_table(const MemorySum& sum);

// What the prediction says first, then a row a tool; a tool that does not speak of the scenario has no number
// and says why.
DataTable other_tools_table(const MemorySum& sum, const std::vector<ToolAnswer>& tools);

}  // namespace shardlab::view
