// What the signs of a rule say that were seen in a log. Private to this folder.
#pragma once

#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/rule.h"

namespace shardlab {

// At most one finding; the case must have a log.
std::vector<Finding> check_signs(const Rule& rule, const Case& facts);

Evidence evidence_of(const Case& facts, const SeenLine& line);

}  // namespace shardlab
