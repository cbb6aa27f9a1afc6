// Both chunked losses. Workspace: the logits of a part, and a few float32 copies of them.
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/chunked_loss.h"
#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/model/operators/losses.h"

namespace shardlab {
namespace {

// Calls function(first, count) for parts of [0, whole).
template <typename F>
void in_chunks(const Operator& op, std::int64_t whole, F&& function) {
  const std::int64_t extent = chunk_extent(whole, op.attributes.get(attribute::k_chunks));
  for (std::int64_t first = 0; first < whole; first += extent)
    function(first, std::min(extent, whole - first));
}

void add_bias(const at::Tensor& gradient, bool accumulate, const at::Tensor& dlogits) {
  if (gradient.defined()) write({gradient, accumulate}, at::sum(dlogits, {0}, /*keepdim=*/false, at::kFloat));
}

// Turns logits into their gradient; returns the sum of the rows' losses, in double.
at::Tensor loss_of_part(const at::Tensor& logits, const at::Tensor& targets, double scale) {
  const at::Tensor wide = in_float(logits), sums = at::logsumexp(wide, {1}, true);
  const at::Tensor losses = sums.sub(at::gather(wide, 1, targets)).to(at::kDouble);
  at::Tensor slope = wide.sub(sums).exp_();
  slope.scatter_(1, targets, at::gather(slope, 1, targets).sub_(1));
  logits.copy_(slope.mul_(scale));
  return losses.sum();
}

void forward_tokens(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const at::Tensor x = as_rows(arguments.inputs[0]), targets = arguments.inputs[1].view({-1, 1});
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor dx = kept.find("hidden_gradient"), dweight = kept.find("weight_gradient"),
                   dbias = kept.find("bias_gradient");
  const auto rows = static_cast<double>(x.size(0));
  at::Tensor total = at::zeros({}, x.options().dtype(at::kDouble));
  in_chunks(arguments.op, x.size(0), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor part = x.narrow(0, first, count);
    const at::Tensor logits = at::empty({count, weight.size(0)}, x.options());
    part_of_logits(arguments.parameters, part, 0, weight.size(0), logits);
    total.add_(loss_of_part(logits, targets.narrow(0, first, count), 1 / rows));
    if (dx.defined()) multiply_into(dx.narrow(0, first, count), logits, weight, false);
    if (dweight.defined()) multiply_into(dweight, logits.t(), part, first > 0);
    add_bias(dbias, first > 0, logits);
  });
  arguments.outputs[0].copy_(total.div_(rows));
}

// Columns [first, first + width) of the logits.
struct Part {
  at::Tensor logits;   // [rows, width]
  at::Tensor columns;  // [rows, 1]: of the targets, somewhere in the part where they are in another
  at::Tensor here;     // [rows, 1]: whether they are in this one
};

Part part_of_vocabulary(std::span<const at::Tensor> parameters, const at::Tensor& x,
                        const at::Tensor& targets, std::int64_t first, std::int64_t width) {
  const at::Tensor places = targets.view({-1, 1}).sub(first);
  const Part part{at::empty({x.size(0), width}, x.options()), places.clamp(0, width - 1),
                  places.ge(0).logical_and(places.lt(width))};
  part_of_logits(parameters, x, first, width, part.logits);
  return part;
}

void forward_vocabulary(const ForwardArguments& arguments) {
  const at::Tensor x = as_rows(arguments.inputs[0]);
  const at::Tensor& log_sum_exp = arguments.extras[0];
  at::Tensor own = at::zeros({x.size(0), 1}, x.options().dtype(at::kFloat));
  in_chunks(arguments.op, arguments.parameters[0].size(0), [&](std::int64_t first, std::int64_t width) {
    const Part part = part_of_vocabulary(arguments.parameters, x, arguments.inputs[1], first, width);
    const at::Tensor sums = at::logsumexp(in_float(part.logits), {1});
    log_sum_exp.copy_(first == 0 ? sums : at::logaddexp(log_sum_exp, sums));
    own = at::where(part.here, in_float(at::gather(part.logits, 1, part.columns)), own);
  });
  arguments.outputs[0].copy_(log_sum_exp.to(at::kDouble).sub_(own.view(-1)).mean());
}

void backward_vocabulary(const BackwardArguments& arguments) {
  const at::Tensor x = as_rows(arguments.saved_inputs[0]), dx = as_rows(arguments.input_gradients[0]);
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor shift = arguments.extras[0].unsqueeze(1);
  const double scale = arguments.seed / static_cast<double>(x.size(0));
  const auto gradient = [&](std::size_t i) {
    return i < arguments.parameter_gradients.size() ? arguments.parameter_gradients[i] : ParameterGradient{};
  };
  const ParameterGradient dweight = gradient(0), dbias = gradient(1);
  in_chunks(arguments.op, weight.size(0), [&](std::int64_t first, std::int64_t width) {
    const Part part = part_of_vocabulary(arguments.parameters, x, arguments.saved_inputs[1], first, width);
    at::Tensor slope = part.logits.to(at::kFloat).sub(shift).exp_();
    slope.scatter_(1, part.columns, at::gather(slope, 1, part.columns).sub_(part.here.to(at::kFloat)));
    part.logits.copy_(slope.mul_(scale));
    if (dx.defined()) multiply_into(dx, part.logits, weight.narrow(0, first, width), first > 0);
    if (dweight.gradient.defined())
      multiply_into(dweight.gradient.narrow(0, first, width), part.logits.t(), x, dweight.accumulate);
    if (dbias.gradient.defined())
      add_bias(dbias.gradient.narrow(0, first, width), dbias.accumulate, part.logits);
  });
}

}  // namespace

// Backward, which scales what forward kept, is made of ATen's operators already.
extern const OperatorImplementation k_device_token_chunked_loss{forward_tokens,
                                                                k_token_chunked_loss_implementation.backward};
extern const OperatorImplementation k_device_vocabulary_chunked_loss{forward_vocabulary, backward_vocabulary};

}  // namespace shardlab
