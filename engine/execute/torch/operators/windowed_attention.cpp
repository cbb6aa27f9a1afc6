#include "engine/execute/torch/operators/windowed_attention.h"

#include <limits>

#include <ATen/ops/empty_like.h>
#include <ATen/ops/logical_not.h>

namespace shardlab {
namespace {

// [batch, sequence, key heads, query heads of each, head_dim].
at::Tensor by_group(const Operator& op, const at::Tensor& rows, std::int64_t queries_per_key) {
  return rows.view({rows.size(0), rows.size(1), op.attributes.get(attribute::k_kv_heads), queries_per_key,
                    op.attributes.get(attribute::k_head_dim)});
}

std::int64_t queries_per_key(const Operator& op) {
  return op.attributes.get(attribute::k_heads) / op.attributes.get(attribute::k_kv_heads);
}

void repeat_into(const Operator& op, const at::Tensor& kept, const at::Tensor& rows) {
  if (kept.defined()) by_group(op, kept, queries_per_key(op)).copy_(by_group(op, rows, 1));
}

// The lowest number instead of torch's infinity, which cuDNN does not take: no row is hidden as a whole.
double hidden_score(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return std::numeric_limits<c10::BFloat16>::lowest();
  if (dtype == at::kHalf) return std::numeric_limits<c10::Half>::lowest();
  return std::numeric_limits<float>::lowest();
}

void fill_matrix(at::Tensor matrix, const at::Tensor& mask) {
  const at::Tensor seen = mask.view(at::kBool).expand(matrix.sizes());
  const at::Tensor hidden = at::logical_not(seen);
  matrix.zero_().masked_fill_(hidden, hidden_score(matrix.scalar_type()));
}

}  // namespace

WindowedCall::WindowedCall(const Operator& given_op, const KeptExtras& kept,
                           std::span<const at::Tensor> given)
    : op(given_op), inputs{given[0], kept.find("repeated_key"), kept.find("repeated_value")} {
  repeated = inputs[1].defined();
  if (repeated) {
    op.attributes.set(attribute::k_kv_heads, op.attributes.get(attribute::k_heads));
  } else {
    inputs[1] = given[1];
    inputs[2] = given[2];
  }
}

void fill_kept(const ForwardArguments& arguments, const KeptExtras& kept) {
  repeat_into(arguments.op, kept.find("repeated_key"), arguments.inputs[1]);
  repeat_into(arguments.op, kept.find("repeated_value"), arguments.inputs[2]);
  fill_matrix(kept.find("matrix"), arguments.inputs[3]);
}

std::array<at::Tensor, 3> kernel_gradients(const BackwardArguments& arguments, const WindowedCall& call) {
  const std::span<const at::Tensor> own = arguments.input_gradients;
  if (!call.repeated) return {own[0], own[1], own[2]};
  return {own[0], at::empty_like(call.inputs[1]), at::empty_like(call.inputs[2])};
}

void finish_gradients(const BackwardArguments& arguments, const WindowedCall& call,
                      std::array<at::Tensor, 3> gradients) {
  if (!call.repeated) return;
  for (const std::size_t input : {2, 1}) {
    at::Tensor of_all = std::move(gradients[input]);
    const at::Tensor own = arguments.input_gradients[input];
    if (!own.defined()) continue;
    const at::Tensor sum = at::sum(by_group(arguments.op, of_all, queries_per_key(arguments.op)), {3});
    of_all.reset();
    own.view(sum.sizes()).copy_(sum);
  }
}

}  // namespace shardlab
