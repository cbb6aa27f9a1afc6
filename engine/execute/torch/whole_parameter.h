// A parameter, or its gradient, as one tensor, gathered from where a plan keeps it.
#pragma once

#include <initializer_list>
#include <string_view>

#include "engine/execute/torch/step_runner.h"

namespace shardlab {

// From the first live buffer of one of the classes that holds the parameter. Collective when that buffer is
// sharded. The result is a copy and not booked in the rank's ledger. `plan` may be null (nothing has run yet:
// an error).
Result<at::Tensor> whole_parameter(RunState& run, StepRunner& runner, const PreparedPlan* plan,
                                   std::string_view name, std::initializer_list<BufferClass> classes);

}  // namespace shardlab
