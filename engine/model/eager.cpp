#include "engine/model/eager.h"

#include <utility>

#include "engine/model/operators/operator_type.h"

namespace shardlab {

tl::unexpected<Error> no_eager_form(std::string what) {
  auto error = bad_input("model.implementation", "not supported yet" + std::move(what), "use fused");
  error.value().code = ErrorCode::no_eager_form;
  return error;
}

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
    return no_eager_form(
        ": eager: units that turn queries and keys, or add alibi to their product, in another dtype than "
        "precision.param");
  }
  return {};
}

}  // namespace shardlab
