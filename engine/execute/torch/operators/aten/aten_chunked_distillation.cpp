// Workspace: the logits of a part of both models, and a few float32 copies of pieces of them.
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/chunked_distillation.h"

namespace shardlab {
namespace {

void add_up_bias(const at::Tensor& gradient, bool accumulate, const at::Tensor& dlogits) {
  write({gradient, accumulate}, at::sum(dlogits, {0}, /*keepdim=*/false, at::kFloat));
}

void forward(const ForwardArguments& arguments) {
  chunked_distillation_forward(arguments, {k_device_distillation_loss, add_up_bias});
}

}  // namespace

extern const OperatorImplementation k_device_chunked_distillation{
    forward,
    [](const BackwardArguments& arguments) { k_token_chunked_loss_implementation.backward(arguments); }};

}  // namespace shardlab
