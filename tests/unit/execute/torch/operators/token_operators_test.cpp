// embedding and cross_entropy against autograd of their plain formulas.
#include <ATen/Parallel.h>

#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};

at::Tensor token_ids(const Shape& shape, std::int64_t below, std::uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return at::randint(below, shape, generator, at::TensorOptions(at::kLong));
}

SingleOperator make_embedding(at::ScalarType dtype, std::int64_t vocabulary, std::int64_t width,
                              const at::Tensor& tokens) {
  return {k_embedding,
          {{tokens, false}},
          {random({vocabulary, width}, dtype, 1)},
          {tokens.size(0), tokens.size(1), width}};
}

SingleOperator make_loss(const at::Tensor& logits, const at::Tensor& targets) {
  return {k_cross_entropy, {{logits.clone()}, {targets, false}}, {}, {}};
}

const PlainFunction k_plain_embedding = [](const auto& inputs, const auto& parameters) {
  return at::embedding(parameters[0], inputs[0]);
};
const PlainFunction k_plain_loss = [](const auto& inputs, const auto&) {
  return at::cross_entropy_loss(inputs[0].flatten(0, 1), inputs[1].flatten());
};

}  // namespace

TEST_CASE("embedding takes rows and adds up the gradients of equal tokens") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t width : {1, 37, 128}) {
      CAPTURE(dtype, width);
      require_as_reference(make_embedding(dtype, 11, width, token_ids({3, 50}, 11, 2)), k_plain_embedding,
                           tolerance_of(dtype));
    }
  }
}

TEST_CASE("a frequent token's bfloat16 gradient is summed in float32") {
  const at::Tensor tokens = at::zeros({1, 4096}, at::kLong);
  SingleOperator single = make_embedding(at::kBFloat16, 2, 8, tokens);
  const Outcome outcome = single.run(at::ones({1, 4096, 8}, at::kBFloat16));
  CHECK(outcome.parameter_gradients[0][0].to(at::kFloat).eq(4096).all().item<bool>());
  CHECK(outcome.parameter_gradients[0][1].to(at::kFloat).eq(0).all().item<bool>());
}

TEST_CASE("embedding's gradient does not depend on the number of threads") {
  SingleOperator single = make_embedding(at::kFloat, 17, 96, token_ids({4, 300}, 17, 3));
  const at::Tensor dy = random({4, 300, 96}, at::kFloat, 4);
  at::set_num_threads(1);
  const Outcome one = single.run(dy);
  at::set_num_threads(3);
  const Outcome three = single.run(dy);
  at::set_num_threads(1);
  CHECK(at::equal(one.parameter_gradients[0], three.parameter_gradients[0]));
}

TEST_CASE("embedding refuses a token outside the vocabulary") {
  for (const std::int64_t token : {-1, 5}) {
    CHECK_THROWS_WITH(make_embedding(at::kFloat, 5, 4, at::full({1, 2}, token, at::kLong)).forward(),
                      contains_text("vocabulary"));
  }
}

TEST_CASE("cross_entropy is the mean loss and writes the logits' gradient over them") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t classes : {2, 33, 256, 1000}) {
      CAPTURE(dtype, classes);
      const at::Tensor logits = random({3, 5, classes}, dtype, 1) * 3;
      SingleOperator single = make_loss(logits, token_ids({3, 5}, classes, 2));
      const Outcome expected = reference(single, k_plain_loss, {}, 0.25);
      const Outcome actual = single.run({}, 0.25);
      CHECK(relative_difference(actual.output, expected.output) < 2e-6);  // float32 whatever the logits are
      CHECK(relative_difference(actual.input_gradients[0], expected.input_gradients[0]) <
            tolerance_of(dtype));
      CHECK(actual.input_gradients[0].data_ptr() == single.inputs[0].value.data_ptr());
      CHECK(relative_difference(actual.extras[0], at::logsumexp(logits.to(at::kDouble), -1).flatten()) <
            2e-6);
    }
  }
}

TEST_CASE("cross_entropy of extreme logits is finite") {
  const at::Tensor logits = at::tensor({1e4, -1e4, 0.0, 88.0, -88.0, 1e4}, at::kFloat).view({1, 2, 3});
  SingleOperator single = make_loss(logits, at::tensor({0, 2}, at::kLong).view({1, 2}));
  const Outcome expected = reference(single, k_plain_loss, {});
  const Outcome actual = single.run({});
  CHECK(relative_difference(actual.output + 1, expected.output + 1) < 1e-6);
  CHECK((actual.input_gradients[0].to(at::kDouble) - expected.input_gradients[0]).abs().max().item<double>() <
        1e-6);
}

TEST_CASE("cross_entropy passes NaN on") {
  at::Tensor logits = at::zeros({1, 2, 40}, at::kFloat);
  logits[0][1][17] = std::numeric_limits<float>::quiet_NaN();
  CHECK(at::isnan(make_loss(logits, at::zeros({1, 2}, at::kLong)).forward().output).item<bool>());
}

TEST_CASE("cross_entropy refuses a target that is no class") {
  for (const std::int64_t target : {-100, 4}) {
    CHECK_THROWS_WITH(make_loss(at::zeros({1, 2, 4}), at::full({1, 2}, target, at::kLong)).forward(),
                      contains_text("number of classes"));
  }
}

}  // namespace shardlab::test
