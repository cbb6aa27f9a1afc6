// add, rms_norm, rope, swiglu against autograd of their plain formulas; odd widths leave part of a vector
// register.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};

PlainFunction plain_rms_norm(double epsilon) {
  return [=](const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& parameters) {
    const at::Tensor& x = inputs[0];
    return x * at::rsqrt((x * x).mean(-1, true) + epsilon) * parameters[0];
  };
}

at::Tensor plain_rope(const std::vector<at::Tensor>& inputs, std::int64_t head_dim) {
  const at::Tensor x = inputs[0].view({inputs[0].size(0), inputs[0].size(1), -1, head_dim});
  const auto halves = x.chunk(2, -1);
  const at::Tensor rotated = at::cat({-halves[1], halves[0]}, -1);
  const auto twice = [&](int which) {
    return at::cat({inputs[1][which], inputs[1][which]}, -1).unsqueeze(1).narrow(0, 0, x.size(1));
  };
  return (x * twice(0) + rotated * twice(1)).view(inputs[0].sizes());
}

}  // namespace

TEST_CASE("add is a sum whose gradient passes through") {
  for (const at::ScalarType dtype : k_dtypes) {
    const Shape shape{2, 3, 37};
    require_as_reference(
        {k_add, {{random(shape, dtype, 1)}, {random(shape, dtype, 2)}}, {}, shape},
        [](const auto& inputs, const auto&) { return inputs[0] + inputs[1]; }, tolerance_of(dtype));
  }
}

TEST_CASE("rms_norm, its input's and its weight's gradient") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t width : {1, 5, 64, 333, 2048}) {
      CAPTURE(dtype, width);
      const Shape shape{3, 7, width};
      const SingleOperator single{k_rms_norm,
                                  {{random(shape, dtype, 1)}},
                                  {random({width}, dtype, 2)},
                                  shape,
                                  {{attribute::k_epsilon, 1e-5}}};
      // The reciprocal of one number near zero is steep: a single float32 rounding shows more.
      require_as_reference(single, plain_rms_norm(1e-5), width == 1 ? 3e-2 : tolerance_of(dtype));
    }
  }
}

TEST_CASE("rms_norm keeps the reciprocal deviation of each row") {
  const SingleOperator single{k_rms_norm,
                              {{random({2, 3, 40}, at::kFloat, 1)}},
                              {random({40}, at::kFloat, 2)},
                              {2, 3, 40},
                              {{attribute::k_epsilon, 1e-5}}};
  const at::Tensor x = single.inputs[0].value.to(at::kDouble);
  CHECK(relative_difference(single.forward().extras[0], at::rsqrt((x * x).mean(-1) + 1e-5).flatten()) < 1e-6);
}

TEST_CASE("rms_norm without a wanted gradient of its input still makes the weight's") {
  SingleOperator single{k_rms_norm,
                        {{random({4, 2, 48}, at::kFloat, 1), false}},
                        {random({48}, at::kFloat, 2)},
                        {4, 2, 48},
                        {{attribute::k_epsilon, 1e-5}}};
  require_as_reference(single, plain_rms_norm(1e-5), 2e-6);
}

TEST_CASE("rope turns pairs by their position and back") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t head_dim : {2, 20, 64}) {
      CAPTURE(dtype, head_dim);
      const Shape shape{2, 5, 3 * head_dim};
      const at::Tensor angles = random({5, head_dim / 2}, at::kFloat, 3) * 3;
      const at::Tensor table = at::stack({angles.cos(), angles.sin()});
      const SingleOperator single{k_rope,
                                  {{random(shape, dtype, 1)}, {table, false}},
                                  {},
                                  shape,
                                  {{attribute::k_head_dim, head_dim}}};
      require_as_reference(
          single, [&](const auto& inputs, const auto&) { return plain_rope(inputs, head_dim); },
          tolerance_of(dtype));
    }
  }
}

TEST_CASE("rope refuses a sequence beyond its table") {
  const SingleOperator single{k_rope,
                              {{random({1, 5, 8}, at::kFloat, 1)}, {random({2, 4, 4}, at::kFloat, 2), false}},
                              {},
                              {1, 5, 8},
                              {{attribute::k_head_dim, 8}}};
  CHECK_THROWS_WITH(single.forward(), contains_text("4 positions"));
}

TEST_CASE("swiglu and both its gradients") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t width : {1, 19, 512}) {
      CAPTURE(dtype, width);
      const Shape shape{2, 3, width};
      const SingleOperator single{
          k_swiglu, {{random(shape, dtype, 1) * 4}, {random(shape, dtype, 2)}}, {}, shape};
      require_as_reference(
          single, [](const auto& inputs, const auto&) { return at::silu(inputs[0]) * inputs[1]; },
          tolerance_of(dtype));
    }
  }
}

TEST_CASE("swiglu at the ends of its range") {
  const at::Tensor gate =
      at::tensor({-1e30, -100.0, -20.0, 0.0, 20.0, 100.0, 1e30}, at::kFloat).view({1, 1, 7});
  SingleOperator single{k_swiglu, {{gate}, {at::ones_like(gate)}}, {}, {1, 1, 7}};
  const at::Tensor dy = at::ones_like(gate);
  const PlainFunction plain = [](const auto& inputs, const auto&) { return at::silu(inputs[0]) * inputs[1]; };
  const Outcome expected = reference(single, plain, dy);
  const Outcome actual = single.run(dy);
  CHECK(at::isfinite(actual.output).all().item<bool>());
  CHECK(at::allclose(actual.output.narrow(2, 1, 5), expected.output.to(at::kFloat).narrow(2, 1, 5), 1e-5,
                     1e-7));
  CHECK(at::allclose(actual.input_gradients[0].narrow(2, 1, 5),
                     expected.input_gradients[0].to(at::kFloat).narrow(2, 1, 5), 1e-5, 1e-6));
}

}  // namespace shardlab::test
