// Activations on any device.
#include <ATen/ops/div.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

// swiglu and geglu: an activation of the gate times the other half, in float32 and rounded once. Workspace: a
// few float32 copies of a piece.

namespace {

struct Silu {
  at::Tensor of(const at::Tensor& x) const { return at::silu(x); }
  at::Tensor gradient(const at::Tensor& dy, const at::Tensor& x) const { return at::silu_backward(dy, x); }
};

struct Gelu {
  std::string_view form;
  at::Tensor of(const at::Tensor& x) const { return at::gelu(x, form); }
  at::Tensor gradient(const at::Tensor& dy, const at::Tensor& x) const {
    return at::gelu_backward(dy, x, form);
  }
};

Gelu gelu_of(const Operator& op) {
  return {op.attributes.get_or(attribute::k_tanh, false) ? "tanh" : "none"};
}

// Gate and up, in two tensors or one behind the other in rows of one; undefined where there is none.
struct GateAndUp {
  at::Tensor gate, up;
};

GateAndUp gate_and_up(std::span<const at::Tensor> tensors, std::int64_t width) {
  if (tensors.size() > 1) return {as_rows(tensors[0]), as_rows(tensors[1])};
  if (!tensors[0].defined()) return {};
  const at::Tensor rows = as_rows(tensors[0]);
  return {rows.narrow(1, 0, width), rows.narrow(1, width, width)};
}

template <typename Activation>
void gated_forward(const ForwardArguments& arguments, const Activation& activation) {
  const at::Tensor y = as_rows(arguments.outputs[0]);
  const GateAndUp in = gate_and_up(arguments.inputs, y.size(1));
  in_pieces(y.size(0), y.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor gate = in_float(in.gate.narrow(0, first, count));
    y.narrow(0, first, count).copy_(activation.of(gate).mul_(in.up.narrow(0, first, count)));
  });
}

template <typename Activation>
void gated_backward(const BackwardArguments& arguments, const Activation& activation) {
  const at::Tensor dy = as_rows(arguments.output_gradients[0]);
  const GateAndUp in = gate_and_up(arguments.saved_inputs, dy.size(1));
  const GateAndUp gradients = gate_and_up(arguments.input_gradients, dy.size(1));
  in_pieces(dy.size(0), dy.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor d = in_float(dy.narrow(0, first, count));
    const at::Tensor gate = in_float(in.gate.narrow(0, first, count));
    if (gradients.gate.defined()) {
      const at::Tensor slope = at::mul(d, in.up.narrow(0, first, count));
      gradients.gate.narrow(0, first, count).copy_(activation.gradient(slope, gate));
    }
    if (gradients.up.defined()) gradients.up.narrow(0, first, count).copy_(activation.of(gate).mul_(d));
  });
}

}  // namespace

extern const OperatorImplementation k_device_swiglu{
    [](const ForwardArguments& arguments) { gated_forward(arguments, Silu{}); },
    [](const BackwardArguments& arguments) { gated_backward(arguments, Silu{}); }};

extern const OperatorImplementation k_device_geglu{
    [](const ForwardArguments& arguments) { gated_forward(arguments, gelu_of(arguments.op)); },
    [](const BackwardArguments& arguments) { gated_backward(arguments, gelu_of(arguments.op)); }};

// ATen's own, which computes in float32 whatever the element type. Workspace: none.

namespace {

std::string_view form_of(const Operator& op) {
  return op.attributes.get_or(attribute::k_tanh, false) ? "tanh" : "none";
}

void gelu_forward(const ForwardArguments& arguments) {
  at::Tensor y = arguments.outputs[0];
  at::gelu_out(y, arguments.inputs[0], form_of(arguments.op));
}

void gelu_backward(const BackwardArguments& arguments) {
  at::Tensor dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  at::gelu_backward_out(dx, arguments.output_gradients[0], arguments.saved_inputs[0], form_of(arguments.op));
}

}  // namespace

extern const OperatorImplementation k_device_gelu{gelu_forward, gelu_backward};

// Workspace: two float32 copies of a piece.

namespace {

void soft_cap_forward(const ForwardArguments& arguments) {
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  const at::Tensor x = as_rows(arguments.inputs[0]), y = as_rows(arguments.outputs[0]);
  in_pieces(x.size(0), x.size(1), [&](std::int64_t first, std::int64_t count) {
    y.narrow(0, first, count).copy_(in_float(x.narrow(0, first, count)).div(cap).tanh_().mul_(cap));
  });
}

// The slope of cap tanh(x / cap) is 1 - (y / cap)^2.
void soft_cap_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const double cap = arguments.op.attributes.get(attribute::k_cap);
  const at::Tensor y = as_rows(arguments.saved_outputs[0]), dy = as_rows(arguments.output_gradients[0]);
  const at::Tensor dx = as_rows(arguments.input_gradients[0]);
  in_pieces(y.size(0), y.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor share = in_float(y.narrow(0, first, count)).div(cap);
    dx.narrow(0, first, count).copy_(share.square_().neg_().add_(1).mul_(dy.narrow(0, first, count)));
  });
}

}  // namespace

extern const OperatorImplementation k_device_soft_cap{soft_cap_forward, soft_cap_backward};

}  // namespace shardlab
