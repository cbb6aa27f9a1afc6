// Why a scenario cannot be read or planned, as findings.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/doctor/examine.h"

namespace shardlab {

// Whether the error is the scenario's: only of such findings are made.
bool is_mistake(const Error& error);

// The mistakes of a scenario as findings, each with its line and column. `file` is what the scenario is
// called.
Examination examine_mistakes(const std::string& file, const Error& error);

}  // namespace shardlab
