// Eager operators but for attention against autograd of their plain formulas, and what they keep and move
// against a count by hand.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};

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
    for (const bool as_logits : {false, true}) {
      Attributes attributes;
      if (as_logits) attributes.set(attribute::k_as_logits, true);
      require_as_reference(
          {k_eager_cross_entropy, {{random({3, 5, 41}, dtype, 1)}, {targets, false}}, {}, {}, attributes},
          [&](const auto& inputs, const auto&) {
            return at::cross_entropy_loss(inputs[0].flatten(0, 1), targets.flatten());
          },
          tolerance_of_steps(dtype));
    }
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

}  // namespace shardlab::test
