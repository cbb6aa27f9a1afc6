// Provenance as the JSON text of the column runs.provenance. The kind of the run has a column of its own.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

std::string provenance_text(const Provenance& provenance);
// A text that provenance_text did not write is bad_input.
Result<Provenance> parse_provenance(std::string_view text, RunKind kind);

}  // namespace shardlab
