// Whether one of two runs predicts the other: only then what lies between them is an error.
#pragma once

#include <string>
#include <string_view>

#include "engine/store/run_record.h"

namespace shardlab {

// The machines of two runs (RunEntry::machine); what is not known agrees with everything.
bool machines_agree(std::string_view one, std::string_view other);

// A prediction and a measurement of one plan on one machine, in any order.
bool is_judged_pair(const RunRecord& one, const RunRecord& other);

// Why the times of such a pair are not judged all the same; empty: they are.
const std::string& reason_not_to_judge_times(const RunRecord& one, const RunRecord& other);

}  // namespace shardlab
