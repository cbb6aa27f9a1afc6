// The plan that traces show, as the settings of a scenario.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/formats/profiler/seen_plan.h"
#include "engine/formats/tools/import_subject.h"

namespace shardlab {

// `file` stands for the traces. Every setting has how sure it is in its note. Errors: bad_input where a
// value of the plan is no YAML.
Result<ImportReading> reading_of(const SeenPlan& plan, const std::string& file);

}  // namespace shardlab
