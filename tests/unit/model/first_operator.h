// The first operator of a type in a graph.
#pragma once

#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"

namespace shardlab {

inline const Operator& first_operator(const ModelGraph& graph, const OperatorType& type) {
  for (const Operator& op : graph.operators) {
    if (op.type == &type) return op;
  }
  FAIL("no operator of the type " << type.name);
  return graph.operators.front();
}

}  // namespace shardlab
