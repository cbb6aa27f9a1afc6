// Parts of a summary's text: memory over the life of a job, and what libraries take beside its tensors.
#pragma once

#include <string>

#include "engine/report/terminal.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// A row a phase that the job has, and those that it has not and that would not fit, marked as not asked for.
// Empty where none was predicted.
std::string life_part(const RunSummary& run, const TextStyle& style);

std::string overheads_part(const RunSummary& run, const TextStyle& style);

}  // namespace shardlab
