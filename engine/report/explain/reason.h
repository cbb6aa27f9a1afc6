// Why an instruction stands in a plan: tables of rules, one for each strategy and one for what all of them
// share.
//
// A new strategy is explained by a file here with its table and a line in reason.cpp. A rule speaks of one
// kind of instruction; the first one that applies gives the sentence and names the settings that decided;
// what a strategy's table leaves out falls to the common one. tests/unit/cli checks that every instruction of
// every strategy's plans has a reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/explain/instruction_context.h"

namespace shardlab {

struct ReasonRule {
  InstructionKind kind;
  bool (*applies)(const InstructionContext& context);  // null: always
  std::string (*text)(const InstructionContext& context);
  std::vector<std::string> keys;  // of the scenario
};

struct Reason {
  std::string text;  // empty: nobody knows
  std::vector<std::string> keys;
};

Reason reason_of(const InstructionContext& context);

// Why it waits for another instruction, or comes after it on its stream.
std::string reason_to_wait(const InstructionContext& context, InstructionId awaited);

// What the pass of this name does.
std::string describe_pass(const StepPlan& step, std::string_view pass);

// The tables.
std::span<const ReasonRule> common_reasons();  // segments, optimizer, clipping, generic passes
std::span<const ReasonRule> ddp_reasons();
std::span<const ReasonRule> fsdp1_reasons();
std::span<const ReasonRule> fsdp2_reasons();
std::span<const ReasonRule> native_reasons();

}  // namespace shardlab
