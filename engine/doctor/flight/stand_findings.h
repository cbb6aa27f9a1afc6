// Findings about where ranks stand by their dumps. Private to the doctor.
#pragma once

#include <initializer_list>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/flight/group_stands.h"
#include "engine/doctor/rule.h"

namespace shardlab {

// A finding for each group that stands as one of the kinds; the case must have dumps.
std::vector<Finding> stand_findings(const Rule& rule, const Case& facts,
                                    std::initializer_list<GroupStand::Kind> kinds);

}  // namespace shardlab
