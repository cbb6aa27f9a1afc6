// Findings of what is wrong in files of other tools. Private to the doctor.
#pragma once

#include <string>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/files/tool_files.h"
#include "engine/doctor/rule.h"

namespace shardlab {

// At most one finding; the case must have files.
std::vector<Finding> check_faults(const Rule& rule, const Case& facts);

// What no rule is about; likewise.
std::vector<Finding> other_faults(const std::vector<Rule>& rules, const Case& facts);

// A sentence for the user; empty where the files were planned.
std::string why_not_planned(const ToolFiles& files);

}  // namespace shardlab
