// What a step of a program is called where times are listed by operation.
#pragma once

#include <string_view>

#include "engine/model/segment/program.h"

namespace shardlab {

// The operator's name; "sum" and "copy" for gradients that meet. Lives as long as the program runs.
std::string_view step_operation(const ModelGraph& graph, const ProgramStep& step);

}  // namespace shardlab
