// The instructions of a plan as a list that can be searched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab::view {

struct PlanLine {
  InstructionId id;
  std::string label;   // "AllGather u1"
  std::string stream;
  std::string unit;    // module path; empty: none, or the model itself
  std::string bytes;   // empty: none
  std::string live;    // of the plan's buffers, after it
  std::string waits;   // "9 11"
  std::uint16_t pass = 0;
  std::string search;  // lower case: everything a person may look for
};

// In host issue order.
std::vector<PlanLine> plan_lines(const StepPlan& plan);

struct PlanFilter {
  std::string query;                  // words that must all be found, in any order and case
  std::optional<std::uint16_t> pass;  // put there by this pass
  std::optional<InstructionKind> kind;
};

// Positions in `lines`, ascending.
std::vector<std::uint32_t> matching_lines(const std::vector<PlanLine>& lines, const StepPlan& plan,
                                          const PlanFilter& filter);

// The kinds that occur, in the order of the enumeration.
std::vector<InstructionKind> kinds_of(const StepPlan& plan);

}  // namespace shardlab::view
