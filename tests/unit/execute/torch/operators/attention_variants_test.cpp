// Attention with a window, a soft cap, a scale, biases by key, and with q, k and v in one tensor, against
// autograd.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

struct Variant {
  std::int64_t sequence = 70, heads = 4, kv_heads = 2, head_dim = 16;
  std::int64_t window = 0;
  double soft_cap = 0, scale = 0;
  bool bias = false;
  Packing packed = Packing::separate;
  const OperatorType* type = &k_attention;
};

at::Tensor heads_of(const at::Tensor& x, const Variant& v, std::int64_t heads) {
  return x.reshape({2, v.sequence, heads, v.head_dim}).transpose(1, 2);
}

// q, k, v as [batch, heads, sequence, head_dim], from whatever the operator is given.
std::vector<at::Tensor> operands(const std::vector<at::Tensor>& inputs, const Variant& v) {
  if (v.packed == Packing::separate)
    return {heads_of(inputs[0], v, v.heads), heads_of(inputs[1], v, v.kv_heads),
            heads_of(inputs[2], v, v.kv_heads)};
  if (v.packed == Packing::sections) {
    const std::int64_t q = v.heads * v.head_dim, kv = v.kv_heads * v.head_dim;
    return {heads_of(inputs[0].narrow(2, 0, q), v, v.heads),
            heads_of(inputs[0].narrow(2, q, kv), v, v.kv_heads),
            heads_of(inputs[0].narrow(2, q + kv, kv), v, v.kv_heads)};
  }
  const std::int64_t group = v.heads / v.kv_heads;
  const at::Tensor groups = inputs[0].view({2, v.sequence, v.kv_heads, group + 2, v.head_dim});
  return {heads_of(groups.narrow(3, 0, group), v, v.heads),
          heads_of(groups.narrow(3, group, 1), v, v.kv_heads),
          heads_of(groups.narrow(3, group + 1, 1), v, v.kv_heads)};
}

PlainFunction plain(const Variant& v) {
  return [=](const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&) {
    const std::vector<at::Tensor> qkv = operands(inputs, v);
    const std::int64_t group = v.heads / v.kv_heads;
    const double scale = v.scale > 0 ? v.scale : 1 / std::sqrt(static_cast<double>(v.head_dim));
    at::Tensor scores = at::matmul(qkv[0], qkv[1].repeat_interleave(group, 1).transpose(2, 3)) * scale;
    if (v.soft_cap > 0) scores = v.soft_cap * at::tanh(scores / v.soft_cap);
    if (v.bias) scores = scores + inputs.back().view({1, v.heads, 1, v.sequence});
    const at::Tensor ones = at::ones({v.sequence, v.sequence}, at::kBool);
    at::Tensor hidden = ones.triu(1);
    if (v.window > 0) hidden = hidden.logical_or(ones.tril(-v.window));
    scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
    const at::Tensor y = at::matmul(at::softmax(scores, -1), qkv[2].repeat_interleave(group, 1));
    return y.transpose(1, 2).reshape({2, v.sequence, v.heads * v.head_dim});
  };
}

SingleOperator make(at::ScalarType dtype, const Variant& v) {
  const Shape q{2, v.sequence, v.heads * v.head_dim}, kv{2, v.sequence, v.kv_heads * v.head_dim};
  std::vector<OperatorInput> inputs;
  if (v.packed != Packing::separate) {
    inputs = {{random({2, v.sequence, (v.heads + 2 * v.kv_heads) * v.head_dim}, dtype, 1)}};
  } else {
    inputs = {{random(q, dtype, 1)}, {random(kv, dtype, 2)}, {random(kv, dtype, 3)}};
  }
  if (v.bias) inputs.push_back({random({v.heads, v.sequence}, at::kFloat, 4), false});
  Attributes attributes{{attribute::k_heads, v.heads},
                        {attribute::k_kv_heads, v.kv_heads},
                        {attribute::k_head_dim, v.head_dim}};
  if (v.packed != Packing::separate) attributes.set(attribute::k_packed, v.packed);
  if (v.scale != 0) attributes.set(attribute::k_scale, v.scale);
  if (v.window != 0) attributes.set(attribute::k_window, v.window);
  if (v.soft_cap != 0) attributes.set(attribute::k_soft_cap, v.soft_cap);
  return {*v.type, inputs, {}, q, attributes};
}

void require_variant(const Variant& v) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    CAPTURE(dtype, v.sequence, v.heads, v.kv_heads, v.window, v.soft_cap, v.bias, v.packed);
    const double tolerance = dtype == at::kFloat ? 4e-6 : dtype == at::kHalf ? 3e-3 : 2e-2;
    require_as_reference(make(dtype, v), plain(v), tolerance);
  }
}

}  // namespace

TEST_CASE("attention within a window, at the borders of blocks") {
  for (const std::int64_t window : {2, 63, 64, 69, 70, 71}) require_variant({.window = window});
  for (const std::int64_t window : {2, 100, 511, 512, 513, 600})
    require_variant({.sequence = 1100, .heads = 2, .kv_heads = 1, .window = window});
}

TEST_CASE("attention within a window of one key is that key's value") {
  const SingleOperator single = make(at::kFloat, {.kv_heads = 4, .window = 1});
  CHECK(at::equal(single.forward().output, single.inputs[2].value));
}

TEST_CASE("attention with capped scores") {
  require_variant({.soft_cap = 1.5});
  require_variant({.sequence = 600, .heads = 2, .kv_heads = 2, .soft_cap = 2, .scale = 0.4});
}

TEST_CASE("attention with a bias by head and key") {
  require_variant({.bias = true});
  require_variant({.sequence = 600, .heads = 2, .kv_heads = 2, .bias = true});
}

TEST_CASE("attention with everything at once") {
  require_variant(
      {.sequence = 600, .heads = 4, .kv_heads = 2, .window = 90, .soft_cap = 2, .scale = 0.3, .bias = true});
}

TEST_CASE("attention of q, k and v in one tensor") {
  for (const std::int64_t kv_heads : {4, 2, 1}) {
    for (const Packing packed : {Packing::sections, Packing::groups}) {
      require_variant({.kv_heads = kv_heads, .packed = packed});
      require_variant({.kv_heads = kv_heads, .window = 20, .bias = true, .packed = packed});
    }
  }
}

TEST_CASE("attention of two products and a softmax in one kernel") {
  for (const std::int64_t kv_heads : {4, 2, 1}) {
    for (const Packing packed : {Packing::separate, Packing::sections}) {
      require_variant({.kv_heads = kv_heads, .scale = 0.3, .packed = packed, .type = &k_unfused_attention});
      require_variant({.kv_heads = kv_heads, .window = 20, .packed = packed, .type = &k_unfused_attention});
    }
  }
}

// DotProductAttention in bfloat16, n scores of 2 bytes, m of them left of the diagonal or on it, q, k and v
// of p bytes each, packed. Forward: softmax 2m + 2n, heads side by side 2p. Backward: softmax 4m + 2n,
// gradients put together 6p. A product reads and writes 2p + 2n.
TEST_CASE("bytes and operations of attention of two products, by hand") {
  const Variant v{.sequence = 16, .kv_heads = 4, .packed = Packing::sections, .type = &k_unfused_attention};
  const std::int64_t n = 2 * 4 * 16 * 16, m = 2 * 4 * 17 * 16 / 2, p = 2 * 16 * 4 * 16 * 2;
  const SingleOperator single = make(at::kBFloat16, v);
  const OperatorDescription described =
      k_unfused_attention.describe(single.graph(), single.graph().operators[0]);
  CHECK(total(described.forward) == Bytes{2 * m + 2 * n + 2 * p + 2 * (2 * p + 2 * n)});
  CHECK(total(described.backward) == Bytes{4 * m + 2 * n + 6 * p + 4 * (2 * p + 2 * n)});
  CHECK(described.saved_inputs == 0b1);
  CHECK(kept_bytes(described) == Bytes{2 * n});
  CHECK(described.forward_temporaries == Bytes{2 * n + std::max<std::int64_t>(16 * 16, p)});
  // The probabilities are back by then, and so is what stood beside them.
  CHECK(described.backward_temporaries_before == Bytes{3 * p});
  CHECK(described.backward_given_before == Bytes{2 * n});
}

TEST_CASE("attention counts the products that causality and a window leave") {
  const auto flops = [](const Variant& v) {
    const SingleOperator single = make(at::kFloat, v);
    return k_attention.describe(single.graph(), single.graph().operators[0]).forward[0].flops.value;
  };
  // Two products of 2 head_dim operations for each pair, for 2 sequences of 4 heads; half of the diagonal's
  // square.
  CHECK(flops({.sequence = 64}) == 2LL * 2 * 16 * (2 * 4) * (64 * 64 / 2));
  // A window of 16 leaves 64 x 16 pairs less the corner before the first 16 queries, half of 16 x 16.
  CHECK(flops({.sequence = 64, .window = 16}) == 2LL * 2 * 16 * (2 * 4) * (64 * 16 - 16 * 16 / 2));
  CHECK(flops({.sequence = 64, .window = 64}) == flops({.sequence = 64}));
  CHECK(flops({.sequence = 64, .packed = Packing::sections}) == flops({.sequence = 64}));
}

}  // namespace shardlab::test
