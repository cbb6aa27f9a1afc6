// Python's source as logical lines.
#pragma once

#include <string>
#include <string_view>

#include "engine/doctor/program/program_facts.h"

namespace shardlab {

// Any text gives lines; one that is no Python, useless ones. Comments and strings that stand alone
// (docstrings) are left out, other strings are kept as they are.
ProgramFile read_program(std::string_view text, const std::string& source);

}  // namespace shardlab
