// Runs, comparisons, plans and models as text for people. Pure functions; every text ends with a newline.
#pragma once

#include <span>
#include <string>

#include "engine/model/model_graph.h"
#include "engine/plan/planned_scenario.h"
#include "engine/report/terminal.h"
#include "engine/trace/comparison.h"
#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// One run: times, throughput, communication, memory, loss.
std::string summary_table(const RunSummary& summary, const TextStyle& style);

// Metrics with tolerances, the instructions that differ most, memory, verdict.
std::string comparison_table(const Comparison& comparison, const TextStyle& style);

// Stored runs, one a line, in the order given.
std::string history_table(std::span<const RunEntry> runs, const TextStyle& style);

// What stands above the listing of a plan: units, segments, groups, instructions by kind, memory carried.
std::string plan_summary(const PlannedScenario& planned, const TextStyle& style);

// The units of the plan with their sizes; alike ones share a row.
std::string unit_table(const PlannedScenario& planned, const TextStyle& style);

// Module tree with repeated layers folded, parameters, operators of a block.
std::string model_summary(const ModelGraph& graph, const TextStyle& style);

}  // namespace shardlab
