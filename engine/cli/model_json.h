// A model as the JSON that docs/json.md describes under `model`, and the figures its table shows too.
#pragma once

#include <vector>

#include "engine/cli/console.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// What one operator computes and keeps.
struct OperatorFigures {
  OperatorId op;
  Flops forward_flops, backward_flops;
  Bytes forward_bytes, backward_bytes;  // moved to and from memory, at least
  Bytes keeps;                          // for backward; a tensor that an earlier operator keeps counts there
};

// One for each operator of the graph, in order.
std::vector<OperatorFigures> operator_figures(const ModelGraph& graph);

Json model_document(const ModelGraph& graph);

}  // namespace shardlab
