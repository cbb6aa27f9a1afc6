// The instructions of a plan as a table that can be searched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/step_plan.h"
#include "gui/view_model/data_table.h"

namespace shardlab::view {

// A row an instruction, in host issue order: number, what it does in words, name, stream, module, bytes, live
// bytes after it. Keeps the plan.
DataTable plan_table(std::shared_ptr<const StepPlan> plan);

// Everything a person may look for, a text for each instruction, in lower case: its name, the same in words,
// stream, module, buffers.
std::vector<std::string> search_texts(const StepPlan& plan);

struct PlanFilter {
  std::string query;  // words that must all be found, in any order and case; "layer 3" is one of them
  std::optional<std::uint16_t> pass;  // put there by this pass
};

// The instructions that match, ascending. `texts` are the plan's; without a query they may be empty.
std::vector<std::uint32_t> matching_instructions(const StepPlan& plan, const std::vector<std::string>& texts,
                                                 const PlanFilter& filter);

}  // namespace shardlab::view
