#include "engine/model/float8.h"

#include <algorithm>

#include "engine/model/head.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

// Multiples that the kernels behind torch._scaled_mm ask for.
constexpr std::int64_t k_multiple = 16;

bool is_converted(const ModelGraph& graph, const Operator& op) {
  if (op.type != &k_linear || is_head(graph.module(op.module))) return false;
  const Parameter& weight = graph.parameter(op.parameters[0]);
  return !weight.adapter && std::all_of(weight.shape.begin(), weight.shape.end(),
                                        [](std::int64_t size) { return size % k_multiple == 0; });
}

}  // namespace

Status use_float8_products(ModelGraph& graph, Fp8Scaling scaling) {
  if (scaling == Fp8Scaling::none) return {};
  bool any = false;
  for (Operator& op : graph.operators) {
    if (!is_converted(graph, op)) continue;
    op.attributes.set(attribute::k_float8, scaling);
    any = true;
  }
  if (any) return {};
  return bad_input("model.fp8", "this model has no linear layer of which both dimensions are multiples of 16",
                   "leave it out");
}

}  // namespace shardlab
