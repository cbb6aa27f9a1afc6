// The one JSON form of a RunSummary: what `--json` prints and what the store keeps.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/base/result.h"
#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// Field names: docs/json.md. What is unknown is null.
nlohmann::ordered_json summary_json(const RunSummary& summary);

// Adds the figures that the list of runs shows to the JSON of an entry; one that is there keeps its place.
void add_columns(nlohmann::ordered_json& json, const RunEntry& entry);

// Reads what summary_json() wrote. A field that is missing keeps its default, so that summaries of older
// versions can be read; one of the wrong type is an error.
Result<RunSummary> parse_summary_json(std::string_view text);

}  // namespace shardlab
