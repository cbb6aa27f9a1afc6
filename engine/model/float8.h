// Float8 training as a graph pass: linear layers whose products take operands in eight bits, as torchao 0.10
// converts them (torchao/float8/float8_linear.py and float8_linear_utils.py, convert_to_float8_training).
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Every linear but the head, which torchtitan and torchao's examples leave out, and those with a dimension
// that no multiple of 16 is; adapters stay too. Errors: a model in which none is left.
Status use_float8_products(ModelGraph& graph, Fp8Scaling scaling);

}  // namespace shardlab
