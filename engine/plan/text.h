// The text form of a plan: a public format (docs/plan-format.md), one buffer or instruction a line, that
// reads back to the equal value. Golden tests compare it; plan_hash is the hash of its canonical part.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// Everything.
std::string to_text(const StepPlan& plan);

// Everything but who made what (passes), in the same order, without alignment.
std::string canonical_text(const StepPlan& plan);

// A text of another form is bad_input, at its line: "plan.txt:12: ...", where `name` is "plan.txt".
Result<StepPlan> parse_plan(std::string_view text, const std::string& name);

}  // namespace shardlab
