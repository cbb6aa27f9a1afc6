// Operators of the families beyond Llama against autograd of their plain formulas: layer norm, norms with an
// offset and of heads, gelu in both forms and gated, soft caps, learned positions, scaled embeddings,
// stored-transposed linears, rotary embedding of a part of a row.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};
constexpr double k_epsilon = 1e-5;

at::Tensor plain_gelu(const at::Tensor& x, bool tanh) {
  return at::gelu(x, tanh ? "tanh" : "none");
}

Attributes gelu_attributes(bool tanh) {
  return tanh ? Attributes{{attribute::k_tanh, true}} : Attributes{};
}

}  // namespace

TEST_CASE("layer_norm and its gradients, with and without a bias") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t width : {5, 31, 128}) {
      for (const bool bias : {false, true}) {
        CAPTURE(dtype, width, bias);
        const Shape shape{2, 5, width};
        std::vector<at::Tensor> parameters{random({width}, dtype, 2)};
        if (bias) parameters.push_back(random({width}, dtype, 3));
        const SingleOperator single{k_layer_norm,
                                    {{random(shape, dtype, 1)}},
                                    parameters,
                                    shape,
                                    {{attribute::k_epsilon, k_epsilon}}};
        require_as_reference(
            single,
            [=](const auto& inputs, const auto& p) {
              return at::layer_norm(inputs[0], {width}, p[0], bias ? p[1] : at::Tensor(), k_epsilon);
            },
            4 * tolerance_of(dtype));
      }
    }
  }
}

TEST_CASE("layer_norm of a row far from zero loses no digits of its spread") {
  const Shape shape{1, 1, 37};
  SingleOperator single{k_layer_norm,
                        {{random(shape, at::kFloat, 1) + 1000}},
                        {random({37}, at::kFloat, 2)},
                        shape,
                        {{attribute::k_epsilon, k_epsilon}}};
  const Outcome expected = reference(
      single,
      [](const auto& inputs, const auto& p) { return at::layer_norm(inputs[0], {37}, p[0], {}, k_epsilon); },
      random(shape, at::kFloat, 3));
  CHECK(relative_difference(single.forward().output, expected.output) <
        1e-4);  // 1000 has 6e-5 between numbers
}

TEST_CASE("rms_norm with an offset, over whole rows and over heads") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const double offset : {0.0, 1.0}) {
      for (const std::int64_t width : {12, 48}) {  // heads of 12, or the row of 48
        CAPTURE(dtype, offset, width);
        const Shape shape{2, 5, 48};
        Attributes attributes{{attribute::k_epsilon, k_epsilon}};
        if (offset != 0) attributes.set(attribute::k_offset, offset);
        const SingleOperator single{
            k_rms_norm, {{random(shape, dtype, 1)}}, {random({width}, dtype, 2)}, shape, attributes};
        require_as_reference(
            single,
            [=](const auto& inputs, const auto& p) {
              const at::Tensor x = inputs[0].view({-1, width});
              const at::Tensor scale = at::rsqrt(at::mean(x * x, {-1}, true) + k_epsilon);
              return (x * scale * (p[0] + offset)).view({2, 5, 48});
            },
            2 * tolerance_of(dtype));
      }
    }
  }
}

TEST_CASE("gelu and geglu in both forms") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const bool tanh : {false, true}) {
      for (const std::int64_t width : {1, 19, 512}) {
        CAPTURE(dtype, tanh, width);
        const Shape shape{2, 3, width};
        const at::Tensor x = random(shape, dtype, 1) * 3;
        require_as_reference(
            {k_gelu, {{x}}, {}, shape, gelu_attributes(tanh)},
            [=](const auto& inputs, const auto&) { return plain_gelu(inputs[0], tanh); },
            2 * tolerance_of(dtype));
        require_as_reference(
            {k_geglu, {{x}, {random(shape, dtype, 2)}}, {}, shape, gelu_attributes(tanh)},
            [=](const auto& inputs, const auto&) { return plain_gelu(inputs[0], tanh) * inputs[1]; },
            2 * tolerance_of(dtype));
      }
    }
  }
}

TEST_CASE("gelu at the ends of its range") {
  const at::Tensor x =
      at::tensor({-1e30, -100.0, -9.0, -1e-4, 0.0, 1e-4, 9.0, 100.0, 1e30}, at::kFloat).view({1, 1, 9});
  for (const bool tanh : {false, true}) {
    SingleOperator single{k_gelu, {{x}}, {}, {1, 1, 9}, gelu_attributes(tanh)};
    const Outcome outcome = single.run(at::ones_like(x));
    const at::Tensor inner = x.narrow(2, 1, 7);
    CHECK(at::allclose(outcome.output.narrow(2, 1, 7), plain_gelu(inner.to(at::kDouble), tanh).to(at::kFloat),
                       1e-5, 1e-5));
    CHECK(outcome.output.flatten()[8].item<float>() == 1e30f);
    CHECK(outcome.input_gradients[0].flatten()[7].item<float>() == Approx(1));
    CHECK(outcome.input_gradients[0].flatten()[1].item<float>() == Approx(0).margin(1e-6));
  }
}

TEST_CASE("soft_cap and its gradient from what it wrote") {
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const Shape shape{2, 3, 37};
    const SingleOperator single{
        k_soft_cap, {{random(shape, dtype, 1) * 20}}, {}, shape, {{attribute::k_cap, 30.0}}};
    require_as_reference(
        single, [](const auto& inputs, const auto&) { return 30 * at::tanh(inputs[0] / 30); },
        4 * tolerance_of(dtype));
  }
}

TEST_CASE("add_positions adds the table's first rows and sums their gradients over the batch") {
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const Shape shape{3, 5, 37};
    const SingleOperator single{
        k_add_positions, {{random(shape, dtype, 1)}}, {random({9, 37}, dtype, 2)}, shape};
    require_as_reference(
        single, [](const auto& inputs, const auto& p) { return inputs[0] + p[0].narrow(0, 0, 5); },
        tolerance_of(dtype));
  }
  SingleOperator longer{k_add_positions, {{at::zeros({1, 5, 4})}}, {at::zeros({4, 4})}, {1, 5, 4}};
  CHECK_THROWS_WITH(longer.forward(), contains_text("4 positions"));
}

TEST_CASE("embedding multiplied by a number") {
  const at::Tensor tokens = at::tensor({3, 0, 3, 1, 2, 2}, at::kLong).view({2, 3});
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const at::Tensor scale = at::scalar_tensor(6.9282, dtype).to(at::kDouble);  // rounded as the elements are
    const SingleOperator single{k_embedding,
                                {{tokens, false}},
                                {random({5, 37}, dtype, 1)},
                                {2, 3, 37},
                                {{attribute::k_scale, 6.9282}}};
    require_as_reference(
        single, [=](const auto& inputs, const auto& p) { return at::embedding(p[0], inputs[0]) * scale; },
        tolerance_of(dtype));
  }
}

TEST_CASE("the row of the padding token receives no gradient") {
  const at::Tensor tokens = at::tensor({3, 0, 3, 1, 0, 2}, at::kLong).view({2, 3});
  const SingleOperator single{k_embedding,
                              {{tokens, false}},
                              {random({5, 37}, at::kFloat, 1)},
                              {2, 3, 37},
                              {{attribute::k_padding, 0}}};
  require_as_reference(
      single,
      [](const auto& inputs, const auto& p) { return at::embedding(p[0], inputs[0], /*padding_idx=*/0); },
      tolerance_of(at::kFloat));
}

TEST_CASE("linear with a weight stored as inputs by outputs") {
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const SingleOperator single{k_linear,
                                {{random({2, 5, 24}, dtype, 1)}},
                                {random({24, 40}, dtype, 2), random({40}, dtype, 3)},
                                {2, 5, 40},
                                {{attribute::k_transposed, true}}};
    require_as_reference(
        single, [](const auto& inputs, const auto& p) { return at::matmul(inputs[0], p[0]) + p[1]; },
        4 * tolerance_of(dtype));
    const OperatorDescription description = k_linear.describe(single.graph(), single.graph().operators[0]);
    CHECK(description.forward[0].flops.value == 2 * 10 * 24 * 40);
    CHECK(description.forward[0].n == 40);
  }
}

TEST_CASE("rope turns part of each head, and leaves the heads that hold values") {
  const std::int64_t sequence = 5, dim = 10, half = 3;
  const at::Tensor table = random({2, sequence, half}, at::kFloat, 7);
  const Shape shape{2, sequence, 2 * 4 * dim};  // two groups of three turned heads and one that is passed
  const auto plain = [=](const auto& inputs, const auto&) {
    const at::Tensor x = inputs[0].view({2, sequence, 2, 4, dim}), heads = x.narrow(3, 0, 3);
    const at::Tensor c = inputs[1][0].view({1, sequence, 1, 1, half}),
                     s = inputs[1][1].view({1, sequence, 1, 1, half});
    const at::Tensor a = heads.narrow(4, 0, half), b = heads.narrow(4, half, half);
    const at::Tensor turned =
        at::cat({a * c - b * s, b * c + a * s, heads.narrow(4, 2 * half, dim - 2 * half)}, 4);
    return at::cat({turned, x.narrow(3, 3, 1)}, 3).reshape({2, sequence, 2 * 4 * dim});
  };
  for (const at::ScalarType dtype : k_dtypes) {
    CAPTURE(dtype);
    const SingleOperator single{
        k_rope,
        {{random(shape, dtype, 1)}, {table, false}},
        {},
        shape,
        {{attribute::k_head_dim, 10}, {attribute::k_turned, 3}, {attribute::k_passed, 1}}};
    require_as_reference(single, plain, tolerance_of(dtype));
  }
}

}  // namespace shardlab::test
