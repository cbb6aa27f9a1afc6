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

Bytes total(const std::vector<Work>& works) {
  Bytes sum;
  for (const Work& work : works) sum += work.bytes;
  return sum;
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
                              {{"epsilon", 1e-5}, {"offset", offset}}};
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
       {{"epsilon", 1e-5}}},
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
          {k_eager_rope, {{random(shape, dtype, 1)}, {table, false}}, {}, shape, {{"head_dim", 20}}},
          [&](const auto& inputs, const auto&) { return plain_rope(inputs, 20); }, tolerance_of_steps(dtype));
    }
  }
}

TEST_CASE("eager swiglu and geglu, and both their gradients") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const bool of_gate : {true, false}) {
      CAPTURE(dtype, of_gate);
      const Shape shape{2, 3, 37};
      const std::vector<OperatorInput> inputs{{random(shape, dtype, 1), of_gate}, {random(shape, dtype, 2)}};
      require_as_reference(
          {k_eager_swiglu, inputs, {}, shape},
          [](const auto& in, const auto&) { return at::silu(in[0]) * in[1]; }, tolerance_of_steps(dtype));
      require_as_reference(
          {k_eager_geglu, inputs, {}, shape, {{"tanh", 1}}},
          [](const auto& in, const auto&) { return at::gelu(in[0], "tanh") * in[1]; },
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
        {k_eager_soft_cap, {{random(shape, dtype, 1) * 20}}, {}, shape, {{"cap", 30}}},
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
                              {{"epsilon", 1e-5}}};
  const OperatorDescription description = describe_operator(single.graph(), single.graph().operators[0]);
  CHECK(total(description.forward) == Bytes{36 * n + 24 * p});
  const std::int64_t weight = 64;
  CHECK(total(description.backward) == Bytes{92 * n + 40 * p + 2 * weight + 4 * weight});
  CHECK(description.saved_inputs == 0);
  REQUIRE(description.extras.size() == 3);  // x in float32, the reciprocal deviations, the normalized tensor
  CHECK(description.forward_temporaries == Bytes{4 * n + 4 * p});
  CHECK(description.backward_temporaries == Bytes{20 * n});
}

}  // namespace shardlab::test
