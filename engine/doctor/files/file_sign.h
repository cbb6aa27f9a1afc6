// What of another tool's file shows a rule.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/doctor/files/tool_files.h"
#include "engine/doctor/finding.h"

namespace shardlab {

// A kind of mistake; `none` stands for all that a tool refuses and nobody gave a kind.
struct FileSign {
  ErrorCode code = ErrorCode::none;
  std::string_view tool = {};       // in whose files; empty: in anybody's
  Severity most = Severity::error;  // of the finding, beside the rule's own
};

// Whether the sign stands for the mistake.
bool is_shown_by(const FileFault& fault, const FileSign& sign);

}  // namespace shardlab
