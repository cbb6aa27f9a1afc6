#include "engine/model/eager.h"

#include <algorithm>
#include <utility>

#include "engine/model/compiled.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {

tl::unexpected<Error> no_eager_form(std::string what) {
  auto error = bad_input("model.implementation", "not supported yet" + std::move(what), "use fused");
  error.value().code = ErrorCode::no_eager_form;
  return error;
}

namespace {

bool changes_scores(const ModelGraph& graph, const Operator& op) {
  if (op.type != &k_attention) return false;
  if (is_handed_a_mask(graph, op)) return true;
  const bool packed = op.attributes.get_or(attribute::k_packed, Packing::separate) != Packing::separate;
  return op.inputs.size() == (packed ? 2 : 4) || op.attributes.get_or(attribute::k_soft_cap, 0) > 0;
}

void choose_loss(Operator& op, const EagerLoss& loss) {
  if (loss.as_logits) op.attributes.set(attribute::k_as_logits, true);
  if (loss.shift == LossShift::of_logits) op.attributes.set(attribute::k_copies_logits, true);
}

}  // namespace

bool has_changed_scores(const ModelGraph& graph) {
  return std::any_of(graph.operators.begin(), graph.operators.end(),
                     [&](const Operator& op) { return changes_scores(graph, op); });
}

Status use_eager_operators(ModelGraph& graph, const FusedParts& fused) {
  const CompiledPart compiled(graph, fused.compile);
  for (Operator& op : graph.operators) {
    if (fused.attention && changes_scores(graph, op)) continue;
    if (fused.loss && op.type == &k_cross_entropy) continue;
    const bool compiled_loss = fused.compiled_loss && op.type == &k_cross_entropy;
    if (compiled_loss) op.type = &k_compiled_cross_entropy;
    if (op.type == &k_cross_entropy) choose_loss(op, fused.otherwise);
    if (compiled_loss || compiled.makes_one_kernel(op)) {
      op.attributes.set(attribute::k_compiled, true);
      continue;
    }
    if (fused.compile == CompileScope::whole) SHARDLAB_CHECK_OK(hand_a_mask(graph, op));
    const OperatorType& type = *op.type;
    if (type.make_eager != nullptr) {
      SHARDLAB_CHECK_OK(type.make_eager(graph, op));
    } else if (type.eager_type != nullptr) {
      op.type = type.eager_type;
    }
  }
  return {};
}

Status check_eager_tables(const ModelGraph& graph, bool autocast) {
  for (const Operator& op : graph.operators) {
    if (!op.type->table_in_own_dtype || (autocast && op.type->promotes_with_table)) continue;
    if (graph.tensor(op.inputs[0]).dtype == graph.tensor(op.inputs[1]).dtype) continue;
    return no_eager_form(
        ": eager: units that turn queries and keys, or add alibi to their product, in another dtype than "
        "precision.param");
  }
  return {};
}

}  // namespace shardlab
