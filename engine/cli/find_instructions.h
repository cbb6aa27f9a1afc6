// Which instructions of a plan a person means: by number, by name or in words.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// "12", "AllGather", "u1", "AllGather u1", "layer 3", "backward of layer 3", "model.layers.3", "all_gather"
// (a stream); upper and lower case are alike. Words stand together in the name, the words, the module or the
// stream of an instruction; where they do nowhere, each of them stands in one of these. At least one, in the
// order of the plan; none is bad_input at --explain.
Result<std::vector<InstructionId>> find_instructions(const StepPlan& step, const std::string& text);

// A paragraph that names the matches but the first, at most twelve of them; empty when there are none.
std::string other_matches(const StepPlan& step, const std::vector<InstructionId>& found);

}  // namespace shardlab
