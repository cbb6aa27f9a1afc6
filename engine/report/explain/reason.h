// Why an instruction stands in a plan: the table of the strategy that put it there, then the common one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/instruction.h"
#include "engine/reasons/reason_rule.h"

namespace shardlab {

struct Reason {
  std::string text;  // empty: nobody knows
  std::vector<std::string> keys;
};

Reason reason_of(const InstructionContext& context);

// Why it waits for another instruction, or comes after it on its stream.
std::string reason_to_wait(const InstructionContext& context, InstructionId awaited);

// What the pass of this name does.
std::string describe_pass(const StepPlan& step, std::string_view pass);

// The rules for segments, the optimizer, clipping and generic passes.
std::span<const ReasonRule> common_reasons();

// What instructions of a kind do, in a sentence.
std::string_view purpose_of(InstructionKind kind);

}  // namespace shardlab
