// Eager operators against autograd of their plain formulas, and what they keep and move against a count by
// hand.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};

// Every step rounds to the tensor's dtype: a few times the error of one.
double tolerance_of_steps(at::ScalarType dtype) {
  return dtype == at::kFloat ? 4e-6 : 4 * tolerance_of(dtype);
}

at::Tensor normed(const at::Tensor& x) {
  return x * at::rsqrt((x * x).mean(-1, true) + 1e-5);
}

// Cosines and sines of both halves.
at::Tensor table_of(const at::Tensor& angles, at::ScalarType dtype) {
  const at::Tensor both = at::cat({angles, angles}, -1);
  return at::stack({both.cos(), both.sin()}).to(dtype);
}

at::Tensor plain_rope(const std::vector<at::Tensor>& inputs, std::int64_t head_dim) {
  const at::Tensor x = inputs[0].view({inputs[0].size(0), inputs[0].size(1), -1, head_dim});
  const std::int64_t turned = inputs[1].size(2);
  const at::Tensor table = inputs[1].to(x.scalar_type()).unsqueeze(2), part = x.narrow(-1, 0, turned);
  const auto halves = part.chunk(2, -1);
  const at::Tensor result = part * table[0] + at::cat({-halves[1], halves[0]}, -1) * table[1];
  return at::cat({result, x.narrow(-1, turned, head_dim - turned)}, -1).view(inputs[0].sizes());
}

// Attention of MPT: biases by head and key, and the mask of later keys.
SingleOperator scored_attention(at::ScalarType dtype, std::int64_t batch, std::int64_t sequence) {
  const std::int64_t heads = 3, head_dim = 8;
  const at::Tensor mask =
      at::ones({sequence, sequence}, at::kByte).triu(1).expand({batch, 1, sequence, sequence});
  return {k_eager_attention,
          {{random({batch, sequence, 3 * heads * head_dim}, dtype, 1)},
           {random({heads, sequence}, at::kFloat, 2), false},
           {mask.contiguous(), false}},
          {},
          {batch, sequence, heads * head_dim},
          {{attribute::k_heads, 3},
           {attribute::k_kv_heads, 3},
           {attribute::k_head_dim, 8},
           {attribute::k_packed, Packing::sections},
           {attribute::k_scale, 0.4}}};
}

at::Tensor plain_scored_attention(const std::vector<at::Tensor>& inputs) {
  const std::int64_t batch = inputs[0].size(0), sequence = inputs[0].size(1);
  const auto parts = inputs[0].view({batch, sequence, 3, 3, 8}).permute({2, 0, 3, 1, 4}).unbind(0);
  at::Tensor scores =
      at::matmul(parts[0], parts[1].transpose(2, 3)) * 0.4 + inputs[1].view({1, 3, 1, sequence});
  scores = scores.masked_fill(inputs[2].to(at::kBool), -std::numeric_limits<double>::infinity());
  return at::matmul(at::softmax(scores, -1), parts[2]).transpose(1, 2).reshape({batch, sequence, 24});
}

// q, k and v of Falcon's heads in groups, turned, in sections: of `key_heads` keys for `heads` queries.
SingleOperator packed_rope(at::ScalarType dtype, std::int64_t heads, std::int64_t key_heads) {
  const std::int64_t leaving = key_heads == 1 ? 1 : heads, group = heads / key_heads;
  return {k_eager_packed_rope,
          {{random({2, 5, (heads + 2 * key_heads) * 8}, dtype, 1)},
           {table_of(random({5, 4}, at::kFloat, 3) * 3, dtype), false}},
          {},
          {2, 5, (heads + 2 * leaving) * 8},
          {{attribute::k_head_dim, 8}, {attribute::k_turned, group + 1}, {attribute::k_passed, 1}}};
}

at::Tensor plain_packed_rope(const std::vector<at::Tensor>& inputs, std::int64_t heads,
                             std::int64_t key_heads) {
  const std::int64_t group = heads / key_heads, leaving = key_heads == 1 ? 1 : heads;
  const at::Tensor groups = inputs[0].view({2, 5, key_heads, group + 2, 8});
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t times) {
    return groups.narrow(3, first, count).repeat_interleave(times, 3).reshape({2, 5, -1});
  };
  const std::int64_t times = leaving / key_heads;
  return at::cat({plain_rope({part(0, group, 1), inputs[1]}, 8),
                  plain_rope({part(group, 1, times), inputs[1]}, 8), part(group + 1, 1, times)},
                 -1);
}

// Attention of Falcon with alibi: biases by key, the same for each query that may see it.
SingleOperator masked_attention(at::ScalarType dtype, std::int64_t sequence) {
  const at::Tensor by_key = random({1, 3, 1, sequence}, dtype, 2).expand({2, 3, sequence, sequence});
  const at::Tensor hidden = at::ones({sequence, sequence}, at::kBool).triu(1);
  const double lowest = dtype == at::kHalf ? -65504 : -3.3895313892515355e38;
  return {k_eager_masked_attention,
          {{random({2, sequence, 3 * 3 * 8}, dtype, 1)}, {by_key.masked_fill(hidden, lowest), false}},
          {},
          {2, sequence, 3 * 8},
          {{attribute::k_heads, 3},
           {attribute::k_kv_heads, 3},
           {attribute::k_head_dim, 8},
           {attribute::k_packed, Packing::groups}}};
}

at::Tensor plain_masked_attention(const std::vector<at::Tensor>& inputs) {
  const std::int64_t sequence = inputs[0].size(1);
  const auto parts = inputs[0].view({2, sequence, 3, 3, 8}).permute({3, 0, 2, 1, 4}).unbind(0);
  const at::Tensor scores = at::matmul(parts[0], parts[1].transpose(2, 3)) / std::sqrt(8.0) + inputs[1];
  return at::matmul(at::softmax(scores, -1), parts[2]).transpose(1, 2).reshape({2, sequence, 24});
}

// Attention of Gemma 2: scores are capped, and a mask is added, in `mask_dtype`.
// With a soft cap on its scores, or without one.
struct SteppedAttention {
  at::ScalarType dtype;
  std::int64_t batch = 1, sequence = 13, key_heads = 2, window = 0;
  at::ScalarType mask_dtype = dtype;
  bool capped = true;

  SingleOperator single() const {
    const at::TensorOptions bytes = at::TensorOptions(at::kBool);
    at::Tensor hidden = at::ones({sequence, sequence}, bytes).triu(1);
    if (window > 0) hidden = hidden | at::ones({sequence, sequence}, bytes).tril(-window);
    const double lowest = mask_dtype == at::kHalf ? -65504 : -3.3895313892515355e38;
    const at::Tensor mask = at::zeros({batch, 1, sequence, sequence}, mask_dtype).masked_fill(hidden, lowest);
    Attributes attributes{{attribute::k_heads, 4},
                          {attribute::k_kv_heads, key_heads},
                          {attribute::k_head_dim, 8},
                          {attribute::k_scale, 0.4},
                          {attribute::k_window, window}};
    if (capped) attributes.set(attribute::k_soft_cap, 1.5);
    return {capped ? k_eager_capped_attention : k_eager_stepped_attention,
            {{random({batch, sequence, 4 * 8}, dtype, 1)},
             {random({batch, sequence, key_heads * 8}, dtype, 2)},
             {random({batch, sequence, key_heads * 8}, dtype, 3)},
             {mask, false}},
            {},
            {batch, sequence, 4 * 8},
            attributes};
  }

  at::Tensor plain(const std::vector<at::Tensor>& in) const {
    const auto heads = [&](const at::Tensor& rows, std::int64_t count) {
      return rows.view({batch, sequence, count, 8}).transpose(1, 2).repeat_interleave(4 / count, 1);
    };
    const at::Tensor scores = at::matmul(heads(in[0], 4), heads(in[1], key_heads).transpose(2, 3)) * 0.4;
    const at::Tensor masked = (capped ? at::tanh(scores / 1.5) * 1.5 : scores) + in[3];
    return at::matmul(at::softmax(masked, -1), heads(in[2], key_heads))
        .transpose(1, 2)
        .reshape({batch, sequence, 4 * 8});
  }

  void require() const {
    CAPTURE(dtype, batch, sequence, key_heads, window, mask_dtype, capped);
    require_as_reference(
        single(), [this](const auto& inputs, const auto&) { return plain(inputs); },
        tolerance_of_steps(dtype));
  }
};

// Attention with a window, as sdpa computes it with a mask: 1 where a query may look.
struct WindowedAttention {
  at::ScalarType dtype;
  std::int64_t batch = 1, sequence = 13, key_heads = 2, window = 5;

  at::Tensor seen() const {
    const at::Tensor all = at::ones({sequence, sequence}, at::kByte);
    return all.tril() - all.tril(-window);
  }

  SingleOperator single() const {
    return {k_eager_windowed_attention,
            {{random({batch, sequence, 4 * 8}, dtype, 1)},
             {random({batch, sequence, key_heads * 8}, dtype, 2)},
             {random({batch, sequence, key_heads * 8}, dtype, 3)},
             {seen().view({1, 1, sequence, sequence}).contiguous(), false}},
            {},
            {batch, sequence, 4 * 8},
            {{attribute::k_heads, 4},
             {attribute::k_kv_heads, key_heads},
             {attribute::k_head_dim, 8},
             {attribute::k_scale, 0.4},
             {attribute::k_window, window}}};
  }

  at::Tensor plain(const std::vector<at::Tensor>& in) const {
    const auto heads = [&](const at::Tensor& rows, std::int64_t count) {
      return rows.view({batch, sequence, count, 8}).transpose(1, 2).repeat_interleave(4 / count, 1);
    };
    const at::Tensor scores = at::matmul(heads(in[0], 4), heads(in[1], key_heads).transpose(2, 3)) * 0.4;
    const at::Tensor hidden = scores.masked_fill(seen() == 0, -std::numeric_limits<double>::infinity());
    return at::matmul(at::softmax(hidden, -1), heads(in[2], key_heads))
        .transpose(1, 2)
        .reshape({batch, sequence, 4 * 8});
  }

  void require() const {
    CAPTURE(dtype, batch, sequence, key_heads, window);
    require_as_reference(
        single(), [this](const auto& inputs, const auto&) { return plain(inputs); },
        tolerance_of_steps(dtype));
  }
};

}  // namespace

TEST_CASE("eager rms_norm, plain and with an offset, and its gradients") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const double offset : {0.0, 1.0}) {
      for (const bool of_input : {true, false}) {
        CAPTURE(dtype, offset, of_input);
        const Shape shape{3, 7, 64};
        SingleOperator single{k_eager_rms_norm,
                              {{random(shape, dtype, 1), of_input}},
                              {random({64}, dtype, 2)},
                              shape,
                              {{attribute::k_epsilon, 1e-5}, {attribute::k_offset, offset}}};
        require_as_reference(
            single,
            [=](const auto& inputs, const auto& parameters) {
              return normed(inputs[0]) * (parameters[0] + offset);
            },
            tolerance_of_steps(dtype));
      }
    }
  }
}

TEST_CASE("eager rms_norm of heads") {
  const Shape shape{2, 3, 4 * 16};
  require_as_reference(
      {k_eager_rms_norm,
       {{random(shape, at::kFloat, 1)}},
       {random({16}, at::kFloat, 2)},
       shape,
       {{attribute::k_epsilon, 1e-5}}},
      [&](const auto& inputs, const auto& parameters) {
        return (normed(inputs[0].view({2, 3, 4, 16})) * parameters[0]).view(shape);
      },
      4e-6);
}

TEST_CASE("eager rope turns whole heads and parts of heads") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t turned : {20, 8}) {
      CAPTURE(dtype, turned);
      const Shape shape{2, 5, 3 * 20};
      const at::Tensor table = table_of(random({5, turned / 2}, at::kFloat, 3) * 3, dtype);
      require_as_reference(
          {k_eager_rope,
           {{random(shape, dtype, 1)}, {table, false}},
           {},
           shape,
           {{attribute::k_head_dim, 20}}},
          [&](const auto& inputs, const auto&) { return plain_rope(inputs, 20); }, tolerance_of_steps(dtype));
    }
  }
}

TEST_CASE("silu, and a product with both its gradients") {
  for (const at::ScalarType dtype : k_dtypes) {
    const Shape shape{2, 3, 37};
    CAPTURE(dtype);
    require_as_reference(
        {k_silu, {{random(shape, dtype, 1)}}, {}, shape},
        [](const auto& in, const auto&) { return at::silu(in[0]); }, tolerance_of_steps(dtype));
    for (const bool of_first : {true, false}) {
      const std::vector<OperatorInput> inputs{{random(shape, dtype, 1), of_first}, {random(shape, dtype, 2)}};
      require_as_reference(
          {k_multiply, inputs, {}, shape}, [](const auto& in, const auto&) { return in[0] * in[1]; },
          tolerance_of_steps(dtype));
    }
  }
}

TEST_CASE("eager gelu_new and soft_cap") {
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const Shape shape{2, 3, 37};
    require_as_reference(
        {k_eager_gelu_new, {{random(shape, dtype, 1)}}, {}, shape},
        [](const auto& inputs, const auto&) { return at::gelu(inputs[0], "tanh"); },
        tolerance_of_steps(dtype));
    require_as_reference(
        {k_eager_soft_cap, {{random(shape, dtype, 1) * 20}}, {}, shape, {{attribute::k_cap, 30}}},
        [](const auto& inputs, const auto&) { return at::tanh(inputs[0] / 30) * 30; },
        tolerance_of_steps(dtype));
  }
}

TEST_CASE("eager cross_entropy") {
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const at::Tensor targets = at::arange(15).mul_(7).remainder_(41).view({3, 5});
    require_as_reference(
        {k_eager_cross_entropy, {{random({3, 5, 41}, dtype, 1)}, {targets, false}}, {}, {}},
        [&](const auto& inputs, const auto&) {
          return at::cross_entropy_loss(inputs[0].flatten(0, 1), targets.flatten());
        },
        tolerance_of_steps(dtype));
  }
}

// Llama's norm in bfloat16, n elements in p rows. Forward: cast 6n, square 8n, mean 4n + 4p, shift and rsqrt
// 16p, product 8n + 4p, cast 6n, weight 4n. Backward: the two products 4n and 6n, the sum 2n (+ weight
// twice), cast 6n, then in float32: product 8n + 4p, product 12n, sum 4n + 4p, three of 4p elements 8 + 8 +
// 12 p, mean 4n + 4p, power 8n, twice 8n, product 12n, sum 12n, cast 6n.
TEST_CASE("bytes that an eager norm moves, by hand") {
  const std::int64_t p = 21, n = p * 64;
  const SingleOperator single{k_eager_rms_norm,
                              {{random({3, 7, 64}, at::kBFloat16, 1)}},
                              {random({64}, at::kBFloat16, 2)},
                              {3, 7, 64},
                              {{attribute::k_epsilon, 1e-5}}};
  const OperatorDescription description = describe_operator(single.graph(), single.graph().operators[0]);
  CHECK(total(description.forward) == Bytes{36 * n + 24 * p});
  const std::int64_t weight = 64;
  CHECK(total(description.backward) == Bytes{92 * n + 40 * p + 2 * weight + 4 * weight});
  CHECK(description.saved_inputs == 0);
  REQUIRE(description.extras.size() == 3);  // x in float32, the reciprocal deviations, the normalized tensor
  CHECK(description.forward_temporaries == Bytes{4 * n + 4 * p});
  // Five tensors in float32 before the gradient in bfloat16 is allocated, one beside it.
  CHECK(description.backward_temporaries_before == Bytes{20 * n});
  CHECK(description.backward_temporaries == Bytes{4 * n});
}

TEST_CASE("eager attention with whole matrices of scores") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t batch : {1, 3}) {
      for (const std::int64_t sequence : {1, 2, 13}) {
        CAPTURE(dtype, batch, sequence);
        require_as_reference(
            scored_attention(dtype, batch, sequence),
            [](const auto& inputs, const auto&) { return plain_scored_attention(inputs); },
            tolerance_of_steps(dtype));
      }
    }
  }
}

// MptAttention in bfloat16, n scores, q, k and v of p bytes each. Forward: q and k copied 4p, scaled 4n, +
// bias 6n, copied 8n and hidden 8n, softmax 8n, cast 6n, v copied 2p, heads put together 2p. Backward: dy
// copied 2p, cast 6n, times the probabilities 12n, softmax 12n, copied 8n and hidden 8n, cast 6n, scaled 4n,
// gradients of q and v copied 4p, put together 6p. A product reads and writes 2p + 2n.
TEST_CASE("bytes and operations of eager attention, by hand") {
  const std::int64_t batch = 2, sequence = 16, heads = 3, head_dim = 8;
  const std::int64_t n = batch * heads * sequence * sequence, p = batch * sequence * heads * head_dim * 2;
  const std::int64_t bias = heads * sequence * 4, mask = batch * sequence * sequence;
  const SingleOperator single = scored_attention(at::kBFloat16, batch, sequence);
  const OperatorDescription description =
      k_eager_attention.describe(single.graph(), single.graph().operators[0]);
  CHECK(total(description.forward) == Bytes{40 * n + 8 * p + bias + mask + 2 * (2 * p + 2 * n)});
  CHECK(total(description.backward) == Bytes{56 * n + 12 * p + mask + 4 * (2 * p + 2 * n)});
  CHECK(description.forward_temporaries == Bytes{4 * n + p});
  // 12n + p, less the narrow probabilities and v, which the product before gave back.
  CHECK(description.backward_temporaries == Bytes{10 * n});
  CHECK(description.backward_given == Bytes{2 * n + p});
  CHECK(description.saved_inputs == 0b100);
  Bytes kept;
  for (const ExtraTensor& extra : description.extras)
    kept += bytes_of(element_count(extra.shape), extra.dtype);
  CHECK(kept == Bytes{3 * p + 4 * n + 2 * n});
  for (const auto& [works, products] : {std::pair{description.forward, 2}, {description.backward, 4}}) {
    Flops executed, counted;
    for (const Work& work : works) {
      executed += work.flops;
      counted += work.model_flops;
    }
    CHECK(executed == Flops{2 * n * head_dim * products});
    CHECK(counted == Flops{n * head_dim * products});
  }
  // One sequence: q, k and v are read where they are.
  const SingleOperator one = scored_attention(at::kFloat, 1, sequence);
  const OperatorDescription of_one = k_eager_attention.describe(one.graph(), one.graph().operators[0]);
  CHECK(of_one.saved_inputs == 0b101);
  REQUIRE(of_one.extras.size() == 1);
  CHECK(bytes_of(element_count(of_one.extras[0].shape), of_one.extras[0].dtype) ==
        Bytes{heads * sequence * sequence * 4});
}

void require_steps(bool capped) {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t batch : {1, 3}) {
      for (const std::int64_t key_heads : {1, 2, 4}) {
        for (const std::int64_t sequence : {1, 2, 13})
          SteppedAttention{dtype, batch, sequence, key_heads, 0, dtype, capped}.require();
        SteppedAttention{dtype, batch, 13, key_heads, 5, dtype, capped}.require();
      }
    }
    SteppedAttention{dtype, 2, 13, 2, 5, at::kFloat, capped}.require();  // as under autocast
  }
}

TEST_CASE("eager attention with a soft cap, keys repeated or not, with and without a window") {
  require_steps(true);
}

TEST_CASE("eager attention step by step, keys repeated or not, with and without a window") {
  require_steps(false);
}

// Gemma2Attention in bfloat16, n scores, q of q bytes, k and v of q / 2 each, masks of m. Forward: k and v
// repeated 3q, scale, / cap, tanh and * cap 16n, + mask 4n + m, in float32 6n, softmax 8n, cast 6n, heads put
// together 2q; with several sequences q copied 2q. Backward: in float32 6n, times the probabilities 12n,
// softmax 12n, cast 6n, * cap 4n, tanh 6n, / cap and scale 8n; k and v added up 3q and copied 2q, q copied
// 2q; with several sequences dy copied 2q. A product reads and writes 2q + 2n.
TEST_CASE("bytes and operations of eager attention with a soft cap, by hand") {
  for (const std::int64_t batch : {1, 2}) {
    const std::int64_t sequence = 16, n = batch * 4 * sequence * sequence, q = batch * sequence * 4 * 8 * 2;
    const std::int64_t mask = batch * sequence * sequence * 2, copied = batch > 1 ? q : 0;
    const SingleOperator single = SteppedAttention{at::kBFloat16, batch, sequence, 2, 6}.single();
    const OperatorDescription description =
        k_eager_capped_attention.describe(single.graph(), single.graph().operators[0]);
    CAPTURE(batch);
    CHECK(total(description.forward) == Bytes{40 * n + 5 * q + 2 * copied + mask + 2 * (2 * q + 2 * n)});
    CHECK(total(description.backward) == Bytes{54 * n + 7 * q + 2 * copied + 4 * (2 * q + 2 * n)});
    CHECK(description.forward_temporaries == Bytes{4 * n});
    // 12n + q, less the narrow probabilities and v.
    CHECK(description.backward_temporaries_before == Bytes{10 * n});
    CHECK(description.backward_given_before == Bytes{2 * n + q});
    CHECK(description.saved_inputs == (batch > 1 ? 0b000 : 0b001));
    CHECK(kept_bytes(description) == Bytes{2 * q + copied + 2 * n + 4 * n + 2 * n});
    const std::int64_t pairs = 4 * batch * (2 * 6 * sequence - 6 * 6);  // twice those in the window
    Flops executed, counted;
    for (const Work& work : description.forward) {
      executed += work.flops;
      counted += work.model_flops;
    }
    CHECK(executed == Flops{2 * 2 * n * 8});
    CHECK(counted == Flops{2 * pairs * 8});
  }
  // One key head for all is read where it is, float16 has a softmax that reads it, a wide mask makes float32.
  const auto described = [](SteppedAttention attention) {
    const SingleOperator single = attention.single();
    return k_eager_capped_attention.describe(single.graph(), single.graph().operators[0]);
  };
  CHECK(described({at::kFloat, 1, 16, 1}).saved_inputs == 0b111);
  CHECK(described({at::kFloat, 2, 16, 1}).saved_inputs == 0);
  const std::int64_t n = 4 * 16 * 16;
  CHECK(described({at::kHalf, 1, 16, 2}).forward_temporaries == Bytes{2 * n});
  CHECK(described({at::kHalf, 1, 16, 2, 0, at::kFloat}).forward_temporaries == Bytes{4 * n});
}

TEST_CASE("eager attention with a window, keys repeated or not, and as long as the sequence") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t batch : {1, 3}) {
      for (const std::int64_t key_heads : {1, 2, 4}) {
        for (const std::int64_t window : {2, 5, 13})
          WindowedAttention{dtype, batch, 13, key_heads, window}.require();
      }
    }
  }
}

// Attention whose output lies by head and is copied: kept apart from what the next operator reads.
TEST_CASE("eager attention with a copied output") {
  const auto single = [](at::ScalarType dtype) {
    return SingleOperator{k_eager_copied_attention,
                          {{random({2, 7, 4 * 8}, dtype, 1)},
                           {random({2, 7, 2 * 8}, dtype, 2)},
                           {random({2, 7, 2 * 8}, dtype, 3)}},
                          {},
                          {2, 7, 4 * 8},
                          {{attribute::k_heads, 4}, {attribute::k_kv_heads, 2}, {attribute::k_head_dim, 8}}};
  };
  const auto plain = [](const std::vector<at::Tensor>& in, const auto&) {
    const auto heads = [](const at::Tensor& rows, std::int64_t count) {
      return rows.view({2, 7, count, 8}).transpose(1, 2).repeat_interleave(4 / count, 1);
    };
    return std::get<0>(at::_scaled_dot_product_attention_math(heads(in[0], 4), heads(in[1], 2),
                                                              heads(in[2], 2), {}, 0, true))
        .transpose(1, 2)
        .reshape({2, 7, 4 * 8});
  };
  for (const at::ScalarType dtype : k_dtypes)
    require_as_reference(single(dtype), plain, tolerance_of_steps(dtype));
  const SingleOperator of = single(at::kBFloat16);
  const OperatorDescription copied = k_eager_copied_attention.describe(of.graph(), of.graph().operators[0]),
                            one = k_attention.describe(of.graph(), of.graph().operators[0]);
  const Bytes output{2 * 7 * 4 * 8 * 2};
  CHECK(kept_bytes(copied) == kept_bytes(one) + output);
  CHECK(copied.saved_outputs == 0);
  CHECK(copied.backward_temporaries == output);
  CHECK(total(copied.forward) == total(one.forward) + output * 2);
}

// Attention by torch's formula, causal.
struct MathAttention {
  at::ScalarType dtype;
  std::int64_t batch = 1, sequence = 13, key_heads = 2;

  SingleOperator single() const {
    return {k_eager_math_attention,
            {{random({batch, sequence, 4 * 8}, dtype, 1)},
             {random({batch, sequence, key_heads * 8}, dtype, 2)},
             {random({batch, sequence, key_heads * 8}, dtype, 3)}},
            {},
            {batch, sequence, 4 * 8},
            {{attribute::k_heads, 4}, {attribute::k_kv_heads, key_heads}, {attribute::k_head_dim, 8}}};
  }

  at::Tensor plain(const std::vector<at::Tensor>& in) const {
    const auto heads = [&](const at::Tensor& rows, std::int64_t count) {
      return rows.view({batch, sequence, count, 8}).transpose(1, 2).repeat_interleave(4 / count, 1);
    };
    return std::get<0>(at::_scaled_dot_product_attention_math(heads(in[0], 4), heads(in[1], key_heads),
                                                              heads(in[2], key_heads), {}, 0, true))
        .transpose(1, 2)
        .reshape({batch, sequence, 4 * 8});
  }

  void require() const {
    CAPTURE(dtype, batch, sequence, key_heads);
    require_as_reference(
        single(), [this](const auto& inputs, const auto&) { return plain(inputs); }, tolerance_of(dtype) * 2);
  }
};

TEST_CASE("eager attention by its formula, keys repeated or not") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t batch : {1, 3}) {
      for (const std::int64_t key_heads : {1, 2, 4}) {
        for (const std::int64_t sequence : {1, 2, 13})
          MathAttention{dtype, batch, sequence, key_heads}.require();
      }
    }
  }
}

// LlamaAttention in float32, n bytes of scores, q of q bytes, k and v of q / 2 each, one sequence, m bytes of
// a matrix of pairs. Forward: q scaled 2q, the matrix 2m (all, seen, as numbers), k and v repeated 3q, k
// scaled 2q, + the matrix 2n + m, softmax 2n, minus infinity 1.25n, which rows n / 4, the choice 2n, heads
// 2q. Backward: softmax 6n, k and q scaled 4q, v and k added up 3q, copied 4q. A product reads and writes 2q
// + n.
TEST_CASE("bytes and operations of eager attention by its formula, by hand") {
  const std::int64_t sequence = 16, scores = 4 * sequence * sequence, n = scores * 4;
  const std::int64_t q = sequence * 4 * 8 * 4, m = sequence * sequence * 4, rows = 4 * sequence;
  const SingleOperator single = MathAttention{at::kFloat, 1, sequence, 2}.single();
  const OperatorDescription description =
      k_eager_math_attention.describe(single.graph(), single.graph().operators[0]);
  CHECK(total(description.forward) == Bytes{2 * q + 2 * m + 3 * q + 2 * q + 2 * n + m + 2 * n + n +
                                            2 * scores + 2 * rows + 2 * n + 2 * q + 2 * (2 * q + n)});
  CHECK(total(description.backward) == Bytes{6 * n + 4 * q + 3 * q + 4 * q + 4 * (2 * q + n)});
  CHECK(description.saved_inputs == 0);
  CHECK(kept_bytes(description) == Bytes{3 * q + n});
  // The matrix, repeated keys, scores and softmax of them, a byte for each of them and for each row.
  CHECK(description.forward_temporaries == Bytes{m + q + 2 * n + scores + rows});
  CHECK(description.backward_temporaries_before == Bytes{3 * n});  // v is back
}

// LlamaAttention in bfloat16 with attn_implementation "eager": as with a soft cap, without the 12n of forward
// and the 14n of backward that the cap takes, and without the 2n of tanh that are kept.
TEST_CASE("bytes and operations of eager attention step by step, by hand") {
  const std::int64_t sequence = 16, n = 4 * sequence * sequence, q = sequence * 4 * 8 * 2;
  const std::int64_t mask = sequence * sequence * 2;
  const SingleOperator single =
      SteppedAttention{at::kBFloat16, 1, sequence, 2, 0, at::kBFloat16, false}.single();
  const OperatorDescription description =
      k_eager_stepped_attention.describe(single.graph(), single.graph().operators[0]);
  CHECK(total(description.forward) == Bytes{28 * n + 5 * q + mask + 2 * (2 * q + 2 * n)});
  CHECK(total(description.backward) == Bytes{40 * n + 7 * q + 4 * (2 * q + 2 * n)});
  CHECK(kept_bytes(description) == Bytes{2 * q + 4 * n + 2 * n});
  CHECK(description.saved_inputs == 0b001);
}

// MistralAttention in bfloat16, q of q bytes, k and v of q / 2 each, m pairs of a query and a key in all
// sequences. Forward: k and v repeated 3q, the mask negated 2m, the matrix made 3m; the kernel reads it, q, k
// and v of all heads, and writes q. Backward: that twice over; k and v added up 3q and copied 2q.
TEST_CASE("bytes and operations of eager attention with a window, by hand") {
  const std::int64_t batch = 2, sequence = 16, m = batch * sequence * sequence,
                     q = batch * sequence * 4 * 8 * 2;
  const auto described = [](const WindowedAttention& attention) {
    const SingleOperator single = attention.single();
    return k_eager_windowed_attention.describe(single.graph(), single.graph().operators[0]);
  };
  const OperatorDescription repeats = described({at::kBFloat16, batch, sequence, 2, 6});
  CHECK(total(repeats.forward) == Bytes{3 * q + 5 * m + 4 * q + 2 * m});
  CHECK(total(repeats.backward) == Bytes{8 * q + 2 * m + 5 * q});
  CHECK(repeats.forward_temporaries == Bytes{m});
  CHECK(repeats.backward_temporaries == Bytes{2 * q + q / 2});
  CHECK(repeats.saved_inputs == 0b0001);
  CHECK(kept_bytes(repeats) == Bytes{2 * q + 2 * m + batch * 4 * sequence * 4});
  CHECK(repeats.forward[0].masked);
  CHECK(repeats.forward[0].flops == Flops{2 * 2 * 4 * m * 8});
  CHECK(repeats.backward[0].flops == Flops{5 * 2 * 4 * m * 8});
  CHECK(repeats.forward[0].model_flops == Flops{2 * batch * 4 * (2 * 6 * sequence - 6 * 6) * 8});

  for (const std::int64_t key_heads : {1, 4}) {
    const OperatorDescription reads = described({at::kBFloat16, batch, sequence, key_heads, 6});
    CHECK(reads.saved_inputs == 0b0111);
    CHECK(kept_bytes(reads) == Bytes{2 * m + batch * 4 * sequence * 4});
    CHECK(reads.backward_temporaries == Bytes{});
  }
}

TEST_CASE("eager rope of heads in groups, with keys repeated and with one key head") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t key_heads : {1, 2, 3}) {
      CAPTURE(dtype, key_heads);
      require_as_reference(
          packed_rope(dtype, 6, key_heads),
          [=](const auto& inputs, const auto&) { return plain_packed_rope(inputs, 6, key_heads); },
          tolerance_of_steps(dtype));
    }
  }
}

TEST_CASE("eager attention with a matrix of biases for each head") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t sequence : {1, 2, 13, 64, 70}) {
      CAPTURE(dtype, sequence);
      require_as_reference(
          masked_attention(dtype, sequence),
          [](const auto& inputs, const auto&) { return plain_masked_attention(inputs); },
          dtype == at::kFloat  ? 4e-6
          : dtype == at::kHalf ? 3e-3
                               : 2e-2);
    }
  }
}

// FalconAttention in bfloat16 with 6 heads of q, 2 of k and v: key heads of k bytes together, q and repeated
// keys 3k, whole rows 5k, cosines t. Turning x bytes: 2x + t, x, 2x, 2x + t, 3x, so 10x + 2t. Forward: k and
// v taken out 4k, q copied 6k, k and v repeated 4k each. Turned back, 15x + 2t: 2x + t, x, zeros and a half
// twice 4x, 3x, 2x + t, 3x. Backward besides: k and v summed 4k each; zeros 5k three times, parts in them 2k,
// 2k and 6k, 15k added twice.
TEST_CASE("bytes of eager rope of heads in groups, by hand") {
  const SingleOperator single = packed_rope(at::kBFloat16, 6, 2);
  const OperatorDescription description =
      k_eager_packed_rope.describe(single.graph(), single.graph().operators[0]);
  const std::int64_t k = 2 * 5 * 2 * 8 * 2, t = 5 * 8 * 2;
  CHECK(total(description.forward) == Bytes{4 * k + 6 * k + 8 * k + 2 * (30 * k + 2 * t)});
  CHECK(total(description.backward) == Bytes{2 * (45 * k + 2 * t) + 8 * k + 15 * k + 10 * k + 30 * k});
  // Copies of q and k, of what is turned three; both gradients, of what is turned two.
  CHECK(description.forward_temporaries == Bytes{6 * k + 3 * 3 * k});
  CHECK(description.backward_temporaries == Bytes{6 * k + 2 * 3 * k});
  CHECK(description.saved_inputs == 0b10);
  REQUIRE(description.extras.size() == 2);
  CHECK(description.extras[0].dtype == DType::int64);
}

// Falcon's with alibi: the kernel computes all pairs and reads the matrices; behind it gradients of q, k and
// v of p bytes each, and of two of them a whole one.
TEST_CASE("bytes and operations of attention with whole matrices of biases, by hand") {
  const std::int64_t sequence = 64, p = 2 * sequence * 3 * 8 * 2, mask = 2 * 3 * sequence * sequence * 2;
  const SingleOperator single = masked_attention(at::kBFloat16, sequence);
  const OperatorDescription description =
      k_eager_masked_attention.describe(single.graph(), single.graph().operators[0]);
  const std::int64_t product = 2 * (2 * 3) * sequence * sequence * 8;
  REQUIRE(description.forward.size() == 1);
  CHECK(description.forward[0].flops == Flops{2 * product});
  CHECK(description.forward[0].model_flops == Flops{product});
  CHECK(description.forward[0].bytes == Bytes{4 * p + mask});
  REQUIRE(description.backward.size() == 2);
  CHECK(description.backward[0].flops == Flops{5 * product});
  CHECK(description.backward[0].model_flops == Flops{2 * product});
  CHECK(description.backward[0].bytes == Bytes{8 * p + mask});
  // Zeros 3p and a part 2p three times, 9p added twice.
  CHECK(description.backward[1].bytes == Bytes{9 * p + 6 * p + 18 * p});
  CHECK(description.forward_temporaries == Bytes{0});
  CHECK(description.backward_temporaries == Bytes{5 * p});
  CHECK(description.saved_inputs == 0b11);
  CHECK(description.saved_outputs == 0b1);
  REQUIRE(description.extras.size() == 1);
}

}  // namespace shardlab::test
