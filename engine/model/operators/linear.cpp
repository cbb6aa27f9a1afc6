// Matrix products with a weight.
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/model/operators/cast_parameters.h"
#include "engine/model/operators/float8_products.h"
#include "engine/model/operators/four_bit_products.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/weight_products.h"

namespace shardlab {

// y = x W^T (+ b). Parameters: weight [out, in], optional bias [out]. With the attribute `transposed` the
// weight is stored as [in, out] (GPT-2's Conv1D).
//
// Keeps x for the weight's gradient (the weight is a parameter, not counted). Backward writes dx = dy W and
// adds dy^T x into the weight's gradient. With the attribute float8 operands are cast to eight bits first
// (float8_products.h); with the attribute quantized the weight is packed, whatever its shape, and its scales
// are inputs 1 and 2 (four_bit_products.h).

namespace {

OperatorDescription describe_linear(const ModelGraph& graph, const Operator& op) {
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const Tensor& x = graph.tensor(op.inputs[0]);
  const std::int64_t outputs = graph.tensor(op.outputs[0]).shape.back();
  const std::int64_t inputs = x.shape.back();
  const std::int64_t rows = element_count(x.shape) / inputs;

  OperatorDescription description;
  const bool packed = op.attributes.get_or(attribute::k_quantized, Quantization::none) != Quantization::none;
  description.saved_inputs = weight.requires_grad && !packed ? 1 : 0;
  const Fp8Scaling float8 = op.attributes.get_or(attribute::k_float8, Fp8Scaling::none);
  if (packed) {
    FourBitLinear(graph, op).describe(rows, outputs, inputs, description);
  } else if (float8 != Fp8Scaling::none) {
    Float8Linear(float8, rows, outputs, inputs, x.dtype)
        .describe(x.requires_grad, weight.requires_grad, description);
  } else {
    add_weight_products(rows, outputs, inputs, x, weight, description);
  }
  if (op.parameters.size() > 1 && graph.parameter(op.parameters[1]).requires_grad) {
    description.backward.push_back(memory_work(bytes_of(rows * outputs, x.dtype)));
    description.backward_workspace = bytes_of(outputs, DType::float32);  // sums of the bias' gradient
  }
  add_parameter_casts(graph, op, x, description);
  return description;
}

}  // namespace

extern const OperatorType k_linear{
    .name = "linear",
    .describe = describe_linear,
    .category = OperatorCategory::product,
    .probe = &k_product_probe,
    .common = true,
    .autocast = AutocastRule::lower,
    .casts_parameters = true,
};

// y = z + scale * x W^T: what a low-rank adapter adds to the layer it belongs to. Inputs: z [.., out], x [..,
// in]. Parameter: weight [out, in]. Attribute: scale.
//
// Keeps x for the weight's gradient. Backward passes dy on to z, writes dx = scale * dy W and adds scale *
// dy^T x into the weight's gradient.

namespace {

OperatorDescription describe_linear_add(const ModelGraph& graph, const Operator& op) {
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const Tensor& x = graph.tensor(op.inputs[1]);
  const std::int64_t outputs = weight.shape[0], inputs = weight.shape[1];
  const std::int64_t rows = element_count(x.shape) / inputs;

  OperatorDescription description;
  description.saved_inputs = weight.requires_grad ? 0b10 : 0;
  description.passed_gradients = 0b01;
  description.forward.push_back(
      memory_work(graph.tensor(op.inputs[0]).bytes() * 2));  // z into y, then added to
  add_weight_products(rows, outputs, inputs, x, weight, description);
  add_parameter_casts(graph, op, x, description);
  return description;
}

}  // namespace

extern const OperatorType k_linear_add{
    .name = "linear_add",
    .describe = describe_linear_add,
    .category = OperatorCategory::product,
    .probe = &k_added_product_probe,
    .eager_type = &k_eager_linear_add,
    .autocast = AutocastRule::lower,
    .casts_parameters = true,
};

// y = x W_e^T for the rows of each expert e. Inputs: rows [assignments, in], equal experts together; how many
// each expert has, int64 [experts]. Parameter: weight [experts, out, in].
//
// Keeps x and the counts. FLOPs do not depend on how the load is spread, the shapes of the products do:
// predictions take `assumed_groups` products of equal size (all experts when the load is balanced, the k of
// every token when it is worst), or those of the graph's list `assumed_shares` of shares (from 1), which is
// an assumption and no part of the structure.

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

// How many experts have how many rows, those with most first.
using Groups = std::map<std::int64_t, std::int64_t, std::greater<>>;

// Whole rows from shares: what is rounded away goes to the experts that come first.
Groups stated_groups(const std::vector<double>& shares, std::int64_t rows) {
  std::vector<std::int64_t> of_expert;
  std::int64_t left = rows;
  for (const double share : shares) {
    of_expert.push_back(static_cast<std::int64_t>(std::floor(share * static_cast<double>(rows))));
    left -= of_expert.back();
  }
  for (std::size_t i = 0; left > 0; ++i, --left) ++of_expert[i % of_expert.size()];
  Groups groups;
  for (const std::int64_t count : of_expert) {
    if (count > 0) ++groups[count];
  }
  return groups;
}

Groups assumed_groups(const ModelGraph& graph, const Operator& op, std::int64_t rows) {
  const std::int64_t list = op.attributes.get_or(attribute::k_assumed_shares, 0);
  if (list > 0) return stated_groups(graph.expert_shares[static_cast<std::size_t>(list - 1)], rows);
  const std::int64_t assumed =
      std::max<std::int64_t>(1, op.attributes.get_or(attribute::k_assumed_groups, 1));
  const std::int64_t groups = std::min(assumed, rows);
  return {{(rows + groups - 1) / groups, groups}};
}

OperatorDescription describe_grouped_linear(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const std::int64_t rows = x.shape[0], outputs = weight.shape[1], inputs = weight.shape[2];
  const Groups groups = assumed_groups(graph, op, rows);
  OperatorDescription description;
  description.saved_inputs = weight.requires_grad ? 0b11 : 0b10;
  // With groups of one size the FLOPs are those of all rows, also where the last group is smaller.
  const auto flops = [&](std::int64_t each, std::int64_t count) {
    return Flops{saturated_product(2, inputs, outputs, groups.size() == 1 ? rows : each * count)};
  };
  for (const auto& [each, count] : groups) {
    const Flops work = flops(each, count);
    description.forward.push_back(grouped_work(count, each, outputs, inputs, work, x.dtype));
    if (x.requires_grad)
      description.backward.push_back(grouped_work(count, each, inputs, outputs, work, x.dtype));
    if (!weight.requires_grad) continue;
    description.backward.push_back(grouped_work(count, outputs, inputs, each, work, x.dtype));
    description.backward.back().of_weight = true;
  }
  return description;
}

}  // namespace

extern const OperatorType k_grouped_linear{
    .name = "grouped_linear",
    .describe = describe_grouped_linear,
    .category = OperatorCategory::product,
    .autocast = AutocastRule::lower,
};

}  // namespace shardlab
