// Blocked causal attention against autograd of softmax(q k^T) v, with grouped queries.
#include <ATen/Parallel.h>

#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

struct Case {
  std::int64_t sequence, heads, kv_heads, head_dim;
};

SingleOperator make_attention(at::ScalarType dtype, const Case& c) {
  const Shape q{2, c.sequence, c.heads * c.head_dim};
  const Shape kv{2, c.sequence, c.kv_heads * c.head_dim};
  return {k_attention,
          {{random(q, dtype, 1)}, {random(kv, dtype, 2)}, {random(kv, dtype, 3)}},
          {},
          q,
          {{attribute::k_heads, c.heads},
           {attribute::k_kv_heads, c.kv_heads},
           {attribute::k_head_dim, c.head_dim}}};
}

at::Tensor scores(const std::vector<at::Tensor>& inputs, const Case& c) {
  const auto split = [&](const at::Tensor& x, std::int64_t heads) {
    return x.view({2, c.sequence, heads, c.head_dim}).transpose(1, 2);
  };
  const at::Tensor k = split(inputs[1], c.kv_heads).repeat_interleave(c.heads / c.kv_heads, 1);
  const at::Tensor hidden = at::ones({c.sequence, c.sequence}, at::kBool).triu(1);
  const at::Tensor raw =
      at::matmul(split(inputs[0], c.heads), k.transpose(2, 3)) / std::sqrt(static_cast<double>(c.head_dim));
  return raw.masked_fill(hidden, -std::numeric_limits<double>::infinity());
}

PlainFunction plain_attention(const Case& c) {
  return [=](const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>&) {
    const at::Tensor v = inputs[2].view({2, c.sequence, c.kv_heads, c.head_dim}).transpose(1, 2);
    const at::Tensor y =
        at::matmul(at::softmax(scores(inputs, c), -1), v.repeat_interleave(c.heads / c.kv_heads, 1));
    return y.transpose(1, 2).reshape({2, c.sequence, c.heads * c.head_dim});
  };
}

// Probabilities and their gradients are rounded to the element type before their products.
double attention_tolerance(at::ScalarType dtype) {
  if (dtype == at::kHalf) return 2e-3;
  return dtype == at::kFloat ? 3e-6 : 1e-2;
}

}  // namespace

TEST_CASE("attention and its gradients, for all group sizes") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t kv_heads : {8, 4, 2, 1}) {
      CAPTURE(dtype, kv_heads);
      const Case c{70, 8, kv_heads, 16};
      require_as_reference(make_attention(dtype, c), plain_attention(c), attention_tolerance(dtype));
    }
  }
}

TEST_CASE("attention at sequences around the borders of blocks") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t sequence : {2, 63, 64, 65, 330, 511, 512, 513, 600, 1100}) {
      CAPTURE(dtype, sequence);
      const Case c{sequence, 2, 1, 24};
      require_as_reference(make_attention(dtype, c), plain_attention(c), attention_tolerance(dtype));
    }
  }
}

TEST_CASE("attention of one position is its value") {
  SingleOperator single = make_attention(at::kFloat, {1, 2, 1, 24});
  const at::Tensor dy = random({2, 1, 48}, at::kFloat, 4);
  const Outcome outcome = single.run(dy);
  CHECK(at::equal(outcome.output, single.inputs[2].value.repeat({1, 1, 2})));
  CHECK(at::allclose(outcome.input_gradients[2], dy.view({2, 1, 2, 24}).sum(2), 1e-6, 1e-6));
  for (const std::size_t i : {0, 1}) CHECK(outcome.input_gradients[i].abs().max().item<double>() < 1e-5);
}

TEST_CASE("attention with odd head widths") {
  for (const std::int64_t head_dim : {1, 6, 50, 128}) {
    CAPTURE(head_dim);
    const Case c{40, 3, 3, head_dim};
    require_as_reference(make_attention(at::kFloat, c), plain_attention(c), 3e-6);
  }
}

TEST_CASE("attention keeps the log-sum-exp of each head and row") {
  const Case c{90, 4, 2, 16};
  const SingleOperator single = make_attention(at::kFloat, c);
  std::vector<at::Tensor> inputs;
  for (const OperatorInput& input : single.inputs) inputs.push_back(input.value.to(at::kDouble));
  CHECK(relative_difference(single.forward().extras[0], at::logsumexp(scores(inputs, c), -1)) < 2e-6);
}

TEST_CASE("attention makes only the gradients that are wanted") {
  const Case c{80, 4, 2, 16};
  for (int wanted = 1; wanted < 7; ++wanted) {
    CAPTURE(wanted);
    SingleOperator single = make_attention(at::kFloat, c);
    for (int i = 0; i < 3; ++i)
      single.inputs[static_cast<std::size_t>(i)].wants_gradient = (wanted >> i & 1) != 0;
    require_as_reference(single, plain_attention(c), 3e-6);
  }
}

TEST_CASE("attention of large scores stays finite") {
  const Case c{70, 2, 2, 16};
  SingleOperator single = make_attention(at::kFloat, c);
  single.inputs[0].value *= 100;
  require_as_reference(single, plain_attention(c), 1e-4);  // rounding of scores in the hundreds
}

TEST_CASE("attention passes NaN on to the rows that see it") {
  const Case c{100, 2, 2, 16};
  SingleOperator single = make_attention(at::kFloat, c);
  single.inputs[1].value[0][40][3] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor spoiled = at::isnan(single.forward().output[0]).any(-1);
  CHECK_FALSE(spoiled.narrow(0, 0, 40).any().item<bool>());
  CHECK(spoiled.narrow(0, 40, 60).all().item<bool>());
}

TEST_CASE("attention on several threads") {
  const Case c{130, 4, 2, 32};
  SingleOperator single = make_attention(at::kFloat, c);
  const at::Tensor dy = random({2, 130, 128}, at::kFloat, 4);
  at::set_num_threads(1);
  const Outcome one = single.run(dy);
  at::set_num_threads(3);
  const Outcome three = single.run(dy);
  at::set_num_threads(1);
  // Not bitwise: the library picks its kernels by the number of threads.
  CHECK(relative_difference(three.output, one.output.to(at::kDouble)) < 1e-6);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(relative_difference(three.input_gradients[i], one.input_gradients[i].to(at::kDouble)) < 1e-6);
  }
}

}  // namespace shardlab::test
