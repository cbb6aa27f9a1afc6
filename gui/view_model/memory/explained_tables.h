// What a predicted peak is made of in the scenario's own numbers, what would lower it, and what a job holds
// besides its steps.
#pragma once

#include "engine/report/explain_memory/explained_memory.h"
#include "gui/view_model/data_table.h"

namespace shardlab::view {

// A row a kind of tensors, the largest first, with its arithmetic, where it was made, and the settings that
// would shrink it; then the sum. The instruction of a row made the first of them.
DataTable memory_rows_table(const ExplainedMemory& memory);

// A row a setting, as for Session::set() in its first cell ("key=value"): what it takes off the peak, what
// that costs. The largest gain first.
DataTable savings_table(const ExplainedMemory& memory);

// A row a phase that the job has, and those that it has not and that would not fit. No rows where none was
// predicted.
DataTable life_table(const RunSummary& run);

}  // namespace shardlab::view
