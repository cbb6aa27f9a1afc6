// Why an instruction stands in a plan, as a table of rules.
//
// Each strategy has a table in its folder and hands it over through its type (engine/strategies/strategy.h);
// what all of them share is engine/report/explain/common_reasons.cpp. A rule speaks of one kind of
// instruction; the first one that applies gives the sentence and names the settings that decided; what a
// strategy's table leaves out falls to the common one. tests/unit/cli checks that every instruction of every
// strategy's plans has a reason.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reasons/instruction_context.h"

namespace shardlab {

struct ReasonRule {
  InstructionKind kind;
  bool (*applies)(const InstructionContext& context);  // null: always
  std::string (*text)(const InstructionContext& context);
  std::vector<std::string> keys;  // of the scenario
  bool names_cuts = false;        // the strategy's cut_keys decided too
};

// What a strategy tells about its schedule.
struct StrategyReasons {
  std::string_view source;                           // "the schedule of torch 2.11's fully_shard"
  std::span<const ReasonRule> (*rules)() = nullptr;  // null: the common table says all
  std::span<const std::string_view> cut_keys =
      {};  // settings that decide where the model is cut into segments
};

}  // namespace shardlab
