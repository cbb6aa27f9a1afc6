// A failure that no rule knows. Private to this folder.
#pragma once

#include <optional>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"

namespace shardlab {

// The rule id of such findings, which have no code.
inline constexpr const char* k_unknown_rule = "log/unknown";

// The line of the log that is most likely to matter: a warning where it surely reports a failure, else worth
// knowing. Nothing for a case without a log, or a log without such a line.
std::optional<Finding> unknown_failure(const Case& facts);

// Whether the process that failed first, as the launcher says, reported nothing but what signs know.
bool is_silent(const Case& facts);

}  // namespace shardlab
