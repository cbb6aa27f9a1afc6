// Where FSDP1's flat parameters, one for each unit, rule out what the scenario asks for. Private to this
// folder.
#pragma once

#include "engine/base/result.h"
#include "engine/model/partition.h"
#include "engine/scenario/scenario.h"

namespace shardlab::fsdp1 {

// A flat parameter requires a gradient as a whole: backward computes those of its frozen parameters too, and
// runs through all that lies below them. Without use_orig_params FSDP1 refuses such a unit, as bad_input
// (fsdp/_flat_param.py, _validate_tensors_to_flatten).
Status require_gradients(ModelGraph& graph, const Scenario& scenario, const Partition& partition);

// A reentrant checkpoint runs a backward of its own for each region: the flat parameter of a unit around
// several of them gets its gradient, is reduced and freed with the first. Seen with torch 2.11: the second
// region then finds no parameters. bad_input.
Status check_regions(const Scenario& scenario, const ModelGraph& graph, const Partition& partition);

// Whether a reentrant checkpoint runs the unit's backward. That backward is over, with the gradient of the
// flat parameter, before autograd goes on with anything outside of it.
bool is_run_by_reentrant_backward(const Partition& partition, UnitId unit);

}  // namespace shardlab::fsdp1
