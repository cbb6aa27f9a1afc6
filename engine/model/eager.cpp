#include "engine/model/eager.h"

#include "engine/model/operators/operator_type.h"

namespace shardlab {

Status use_eager_operators(ModelGraph& graph) {
  for (Operator& op : graph.operators) {
    const OperatorType& type = *op.type;
    if (type.make_eager != nullptr) {
      SHARDLAB_CHECK_OK(type.make_eager(graph, op));
    } else if (type.eager_type != nullptr) {
      op.type = type.eager_type;
    }
  }
  return {};
}

Status check_eager_tables(const ModelGraph& graph) {
  for (const Operator& op : graph.operators) {
    if (!op.type->table_in_own_dtype) continue;
    if (graph.tensor(op.inputs[0]).dtype == graph.tensor(op.inputs[1]).dtype) continue;
    return bad_input("model.implementation",
                     "not supported yet: eager: units that turn queries and keys, or add alibi to their "
                     "product, in another dtype than precision.param",
                     "use fused");
  }
  return {};
}

}  // namespace shardlab
