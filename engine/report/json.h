// The `--json` output for runs and comparisons; field names are the contract in docs/json.md.
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include "engine/trace/comparison.h"
#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// `simulate`, `run`, `show`. run_id is "r12", or null for a run that was not stored (no `id`).
nlohmann::ordered_json run_json(const RunSummary& summary, std::optional<RunId> id);

// `alive_at_peak` of `show --peak` and `simulate --peak`: what is alive when a step needs most, in words.
nlohmann::ordered_json alive_json(const StepPlan& plan, const MemorySummary& memory);

// `validate`, `diff`: predicted and measured as above, metrics, verdict, instructions, memory.
nlohmann::ordered_json comparison_json(const Comparison& comparison, const nlohmann::ordered_json& predicted,
                                       const nlohmann::ordered_json& measured);

// `history`: one element a run.
nlohmann::ordered_json entry_json(const RunEntry& entry);

}  // namespace shardlab
