// Sentences about parameters and reductions that tables of several strategies share.
#pragma once

#include <string>

#include "engine/reasons/instruction_context.h"

namespace shardlab {

// For Initialize in a setup plan: what is made, and from what.
std::string initialize_text(const InstructionContext& context);
// "u1 (...) is spread over 8 ranks; 12 Forward s2 needs its parameters whole", with what is special: gathered
// again, ahead of time.
std::string gather_text(const InstructionContext& context);
// A gather for a forward, issued before the one that comes next.
bool gathers_ahead_in_forward(const InstructionContext& context);
// What frees a buffer for good: "31 Backward s2 was the last to use it."
std::string last_use_text(const InstructionContext& context);

}  // namespace shardlab
