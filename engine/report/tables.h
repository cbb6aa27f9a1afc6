// Runs, comparisons, plans and models as text for people. Pure functions; every text ends with a newline.
#pragma once

#include <span>
#include <string>

#include "engine/model/model_graph.h"
#include "engine/plan/planned_scenario.h"
#include "engine/report/changed_settings.h"
#include "engine/report/terminal.h"
#include "engine/trace/comparison.h"
#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// One run: times, throughput, communication, memory, loss.
// `at_peak`: the plan of the step in which the peak is, when its instruction is to be said in words too.
std::string summary_table(const RunSummary& summary, const TextStyle& style,
                          const StepPlan* at_peak = nullptr);

// Metrics with tolerances, the instructions that differ most, memory, verdict.
// `plan`: that of both runs, when instructions are to be said in words too.
std::string comparison_table(const Comparison& comparison, const TextStyle& style,
                             const StepPlan* plan = nullptr);

// A shorter comparison of two alternatives with one plan: the instructions that differ most, and the memory
// after each instruction.
std::string instruction_differences(const Comparison& comparison, const TextStyle& style,
                                    const StepPlan* plan);

// Stored runs, one a line, in the order given. `changed`: for each what it changed of the one before, where
// that is known.
std::string history_table(std::span<const RunEntry> runs, const TextStyle& style,
                          std::span<const ChangedSettings> changed = {});

// What stands above the listing of a plan: units, segments, groups, instructions by kind, memory carried.
std::string plan_summary(const PlannedScenario& planned, const TextStyle& style);

// What `shardlab plan` begins with: lines that start with #, which parse_plan leaves out. Which step it is,
// units, collectives, where its phases are, memory.
std::string plan_heading(const std::string& scenario, const StepPlan& plan, bool with_buffers);
// The text form of a plan (to_text) without the lines of its buffers; it does not read back.
std::string without_buffers(const std::string& plan_text);

// The units of the plan with their sizes; alike ones share a row.
std::string unit_table(const PlannedScenario& planned, const TextStyle& style);

// Module tree with repeated layers folded, parameters, operators of a block.
std::string model_summary(const ModelGraph& graph, const TextStyle& style);

}  // namespace shardlab
