// Rotary positions that compute step by step, as the modules of transformers do.
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/eager_parts.h"

namespace shardlab {

// Step by step as in transformers 5.23, modeling_llama.py and modeling_phi.py, and backward as autograd of
// torch 2.11 runs it.

namespace {

at::Tensor as_heads(const Operator& op, const at::Tensor& x) {
  return x.view({x.size(0), x.size(1), -1, op.attributes.get(attribute::k_head_dim)});
}

void eager_rope_forward(const ForwardArguments& arguments) {
  const at::Tensor x = as_heads(arguments.op, arguments.inputs[0]);
  at::Tensor y = as_heads(arguments.op, arguments.outputs[0]);
  const TurnTable table(arguments.inputs[1], x);
  const std::int64_t rest = x.size(-1) - table.turned;
  if (rest == 0) return turn_into(x, table, y);
  const at::Tensor part = x.narrow(-1, 0, table.turned);
  at::Tensor straight = at::mul(part, table.cosine), crossed = at::mul(rotate_half(part), table.sine);
  const at::Tensor turned = at::add(straight, crossed);
  straight.reset();
  crossed.reset();
  at::cat_out(y, {turned, x.narrow(-1, table.turned, rest)}, -1);
}

void eager_rope_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor dy = as_heads(arguments.op, arguments.output_gradients[0]);
  const at::Tensor dx = as_heads(arguments.op, arguments.input_gradients[0]);
  const TurnTable table(arguments.saved_inputs[1], dy);
  const std::int64_t rest = dy.size(-1) - table.turned;
  if (rest == 0) return turn_back_into(dy, table, dx);
  const at::Tensor dy_part = dy.narrow(-1, 0, table.turned);
  at::Tensor part = at::empty(dy_part.sizes(), dy.options());
  turn_back_into(dy_part, table, part);
  dx.zero_();
  dx.narrow(-1, table.turned, rest).copy_(dy.narrow(-1, table.turned, rest));
  const at::Tensor whole = at::zeros_like(dx);
  whole.narrow(-1, 0, table.turned).copy_(part);
  part.reset();
  dx.add_(whole);
}

}  // namespace

extern const OperatorImplementation k_eager_rope_implementation{eager_rope_forward, eager_rope_backward};

// Step by step as in transformers 5.23, modeling_falcon.py FalconAttention: _split_heads of the architectures
// with fewer key-value heads than query heads, then apply_rotary_pos_emb; and backward as autograd of
// torch 2.11 runs it.

namespace {

struct Heads {
  std::int64_t kv_heads, group, head_dim;  // group: heads of q for each of k and v
  bool repeats;

  Heads(const Operator& op, const at::Tensor& packed, const at::Tensor& sections)
      : group(op.attributes.get(attribute::k_turned) - 1),
        head_dim(op.attributes.get(attribute::k_head_dim)) {
    kv_heads = packed.size(2) / head_dim / (group + 2);
    repeats = sections.size(2) != packed.size(2);
  }
  std::int64_t query_heads() const { return kv_heads * group; }
  std::int64_t key_heads() const { return repeats ? query_heads() : kv_heads; }
};

// [batch, sequence, kv_heads, heads of a group, head_dim]: q, k and v of each.
at::Tensor grouped(const Heads& h, const at::Tensor& packed) {
  return packed.view({packed.size(0), packed.size(1), h.kv_heads, h.group + 2, h.head_dim});
}

// [batch, sequence, heads, head_dim] of q, k and v as they leave.
struct Sections {
  at::Tensor q, k, v;

  Sections(const Heads& h, const at::Tensor& sections) {
    const at::Tensor heads = sections.view({sections.size(0), sections.size(1), -1, h.head_dim});
    q = heads.narrow(2, 0, h.query_heads());
    k = heads.narrow(2, h.query_heads(), h.key_heads());
    v = heads.narrow(2, h.query_heads() + h.key_heads(), h.key_heads());
  }
};

void eager_packed_rope_forward(const ForwardArguments& arguments) {
  const at::Tensor& packed = arguments.inputs[0];
  const Heads h(arguments.op, packed, arguments.outputs[0]);
  const Sections out(h, arguments.outputs[0]);
  const TurnTable table(arguments.inputs[1], packed);
  const KeptExtras kept(arguments);
  kept.find("key_index").fill_(-2);
  kept.find("value_index").fill_(-1);
  const at::Tensor groups = grouped(h, packed);
  const at::Tensor value = groups.narrow(3, h.group + 1, 1);
  at::Tensor q = groups.narrow(3, 0, h.group), k = groups.narrow(3, h.group, 1).clone();
  if (h.repeats) {
    const at::Tensor key = std::move(k), taken = value.clone();
    q = q.flatten(2, 3);
    k = key.expand({-1, -1, -1, h.group, -1}).flatten(2, 3);
    out.v.unflatten(2, {h.kv_heads, h.group}).copy_(taken.expand({-1, -1, -1, h.group, -1}));
  } else {
    out.v.copy_(value.flatten(2, 3));
    q = q.flatten(2, 3);
    k = k.flatten(2, 3);
  }
  turn_into(q, table, out.q);
  turn_into(k, table, out.k);
}

// The gradient of heads that were turned, in a tensor of its own.
at::Tensor turned_back(const at::Tensor& dy, const TurnTable& table) {
  at::Tensor dx = at::empty(dy.sizes(), dy.options());
  turn_back_into(dy, table, dx);
  return dx;
}

at::Tensor summed(const Heads& h, const at::Tensor& heads) {
  return at::sum(heads.unflatten(2, {h.kv_heads, h.group}), {3}, true);
}

// Adds zeros with `part` in them, from head `first` of each group on.
void add_placed(const at::Tensor& sum, std::int64_t first, at::Tensor part) {
  const at::Tensor whole = at::zeros_like(sum);
  whole.narrow(3, first, part.size(3)).copy_(part);
  part.reset();
  sum.add_(whole);
}

void eager_packed_rope_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor& dy = arguments.output_gradients[0];
  const Heads h(arguments.op, arguments.input_gradients[0], dy);
  const Sections of(h, dy);
  const TurnTable table(arguments.saved_inputs[1], dy);
  const at::Tensor sum = grouped(h, arguments.input_gradients[0]);
  at::Tensor k = turned_back(of.k, table), q = turned_back(of.q, table);
  at::Tensor v = h.repeats ? summed(h, of.v) : of.v.unsqueeze(3);
  k = h.repeats ? summed(h, k) : k.unsqueeze(3);
  q = q.unflatten(2, {h.kv_heads, h.group});
  sum.zero_();
  sum.narrow(3, h.group + 1, 1).copy_(v);
  v.reset();
  add_placed(sum, h.group, std::move(k));
  add_placed(sum, 0, std::move(q));
}

}  // namespace

extern const OperatorImplementation k_eager_packed_rope_implementation{eager_packed_rope_forward,
                                                                       eager_packed_rope_backward};

}  // namespace shardlab
