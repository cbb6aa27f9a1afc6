// A sign: what in a line of a log identifies a problem.
#pragma once

#include <string_view>
#include <vector>

#include "engine/doctor/finding.h"

namespace shardlab {

// Pieces of text, separated by `*`, that stand in a line in this order; upper and lower case are the same. So
// a pattern names what identifies an error (its type, a function, the words around a number) and leaves out
// what changes between versions: "ddp expects same model*rank*params".
struct LogSign {
  std::string_view pattern;
  int certainty = 80;                         // 0 to 100; the surer sign wins where several rules know a line
  Role role = Role::cause;                    //
  std::string_view frame = {};                // a pattern that a frame of the traceback above must match
  std::vector<std::string_view> unless = {};  // patterns that must not match the line
  // Said instead of the rule's message and fix where the sign means something of its own.
  std::string_view message = {};
  std::string_view fix = {};
  Severity most = Severity::error;  // of the finding, beside the rule's own
  bool whole_line = false;          // the pattern is all of the line but its prefixes: "Killed"
};

}  // namespace shardlab
