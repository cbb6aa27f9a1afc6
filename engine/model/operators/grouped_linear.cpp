// y = x W_e^T for the rows of each expert e. Inputs: rows [assignments, in], equal experts together; how many
// each expert has, int64 [experts]. Parameter: weight [experts, out, in].
//
// Keeps x and the counts. FLOPs do not depend on how the load is spread, the shapes of the products do:
// predictions take `assumed_groups` products of equal size (all experts when the load is balanced, the k of
// every token when it is worst), which is an assumption and no part of the structure.
#include <algorithm>

#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

// The products of all experts with rows: `groups` alike, each m x k by k x n.
Work grouped_work(std::int64_t groups, std::int64_t m, std::int64_t n, std::int64_t k, Flops flops,
                  DType dtype) {
  Work work = matmul_work(m, n, k, dtype);
  work.kernels = static_cast<int>(groups);
  work.flops = work.model_flops = flops;
  work.bytes = work.bytes * groups;
  return work;
}

OperatorDescription describe_grouped_linear(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const std::int64_t rows = x.shape[0], outputs = weight.shape[1], inputs = weight.shape[2];
  const std::int64_t assumed = std::max<std::int64_t>(1, op.attributes.integer("assumed_groups"));
  const std::int64_t groups = std::min(assumed, rows);
  const std::int64_t each = (rows + groups - 1) / groups;
  const Flops flops{2 * rows * inputs * outputs};
  OperatorDescription description;
  description.saved_inputs = weight.requires_grad ? 0b11 : 0b10;
  description.forward.push_back(grouped_work(groups, each, outputs, inputs, flops, x.dtype));
  if (x.requires_grad)
    description.backward.push_back(grouped_work(groups, each, inputs, outputs, flops, x.dtype));
  if (weight.requires_grad)
    description.backward.push_back(grouped_work(groups, outputs, inputs, each, flops, x.dtype));
  return description;
}

}  // namespace

extern const OperatorType k_grouped_linear{"grouped_linear", describe_grouped_linear};

}  // namespace shardlab
