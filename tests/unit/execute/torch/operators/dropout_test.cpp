// dropout, alone and of attention's probabilities, against autograd with the mask that was drawn.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

constexpr double k_share = 0.25;

at::Tensor mask_of(const SingleOperator& single, const Outcome& outcome) {
  const Operator& op = single.graph().operators[0];
  const std::vector<ExtraTensor> extras = op.type->describe(single.graph(), op).extras;
  for (std::size_t i = 0; i < extras.size(); ++i) {
    if (extras[i].dtype == DType::uint8) return outcome.extras[i].cpu();
  }
  FAIL("keeps no mask");
  return {};
}

// The share of zeros of n elements, each of them dropped by itself: within five standard deviations.
void require_share(const at::Tensor& mask, double share) {
  const double n = static_cast<double>(mask.numel()), zeros = n - mask.to(at::kDouble).sum().item<double>();
  CHECK(std::abs(zeros - n * share) <= 5 * std::sqrt(n * share * (1 - share)));
  CHECK(mask.max().item<int>() <= 1);
}

SingleOperator dropped(at::ScalarType dtype, double share = k_share) {
  const Shape shape{3, 40, 100};
  SingleOperator single{k_dropout, {{random(shape, dtype, 1)}}, {}, shape, {{attribute::k_dropout, share}}};
  single.seeds = {11, 12, 13};
  return single;
}

// In every place, with the mask that this place draws.
void require_with_mask(
    const SingleOperator& single, double tolerance,
    const std::function<at::Tensor(const std::vector<at::Tensor>&, const at::Tensor&)>& f) {
  const at::Tensor dy =
      random(single.forward().output.sizes().vec(), single.inputs[0].value.scalar_type(), 9);
  for (const Place& place : all_places()) {
    INFO(place.name);
    const Outcome outcome = single.copy_at(place).run(dy.to(place.device));
    const at::Tensor mask = mask_of(single, outcome);
    require_share(mask, k_share);
    const at::Tensor factors = mask.to(at::kDouble) / (1 - k_share);
    const auto plain = [&](const auto& inputs, const auto&) { return f(inputs, factors); };
    require_close(outcome, reference(single, plain, dy), tolerance * place.slack);
  }
}

// Causal attention of 4 heads of 8, of two sequences; a mask to add is the fourth input of what has one.
struct DroppedAttention {
  const OperatorType& type;
  at::ScalarType dtype;
  std::int64_t key_heads = 4;
  bool packed = false;
  std::int64_t sequence = 13;

  SingleOperator single() const {
    Attributes attributes{{attribute::k_heads, 4},
                          {attribute::k_kv_heads, key_heads},
                          {attribute::k_head_dim, 8},
                          {attribute::k_dropout, k_share}};
    std::vector<OperatorInput> inputs;
    if (packed) {
      attributes.set(attribute::k_packed, Packing::sections);
      inputs = {{random({2, sequence, (4 + 2 * key_heads) * 8}, dtype, 1)}};
    } else {
      inputs = {{random({2, sequence, 4 * 8}, dtype, 1)},
                {random({2, sequence, key_heads * 8}, dtype, 2)},
                {random({2, sequence, key_heads * 8}, dtype, 3)}};
    }
    if (&type == &k_eager_stepped_attention) {
      const double lowest = dtype == at::kHalf ? -65504 : -3.3895313892515355e38;
      inputs.push_back({at::zeros({2, 1, sequence, sequence}, dtype).masked_fill(hidden(), lowest), false});
    }
    SingleOperator made{type, inputs, {}, {2, sequence, 4 * 8}, attributes};
    made.seeds = {21, 22};
    return made;
  }

  at::Tensor hidden() const { return at::ones({sequence, sequence}, at::kBool).triu(1); }

  at::Tensor plain(const std::vector<at::Tensor>& inputs, const at::Tensor& factors) const {
    const std::int64_t k = key_heads * 8;
    const std::vector<at::Tensor> in =
        packed ? std::vector{inputs[0].narrow(2, 0, 32), inputs[0].narrow(2, 32, k),
                             inputs[0].narrow(2, 32 + k, k)}
               : inputs;
    const auto heads = [&](const at::Tensor& rows, std::int64_t count) {
      return rows.reshape({2, sequence, count, 8}).transpose(1, 2).repeat_interleave(4 / count, 1);
    };
    at::Tensor scores = at::matmul(heads(in[0], 4), heads(in[1], key_heads).transpose(2, 3)) / std::sqrt(8.0);
    scores = scores.masked_fill(hidden(), -std::numeric_limits<double>::infinity());
    const at::Tensor read = at::softmax(scores, -1) * factors;
    return at::matmul(read, heads(in[2], key_heads)).transpose(1, 2).reshape({2, sequence, 32});
  }

  void require() const {
    CAPTURE(type.name, dtype, key_heads, packed);
    const double tolerance = dtype == at::kFloat ? 4e-6 : dtype == at::kHalf ? 4e-3 : 2e-2;
    require_with_mask(single(), tolerance,
                      [this](const auto& inputs, const auto& factors) { return plain(inputs, factors); });
  }
};

}  // namespace

TEST_CASE("dropout drops what its mask says and divides the rest, in both directions") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf})
    require_with_mask(dropped(dtype), tolerance_of(dtype),
                      [](const auto& inputs, const at::Tensor& factors) { return inputs[0] * factors; });
}

TEST_CASE("a mask follows from the seed of its sequence alone") {
  for (const Place& place : all_places()) {
    INFO(place.name);
    SingleOperator single = dropped(at::kFloat).copy_at(place);
    const at::Tensor mask = mask_of(single, single.forward());
    CHECK(at::equal(mask_of(single, single.forward()), mask));
    CHECK_FALSE(at::equal(mask[0], mask[1]));
    single.seeds = {13, 11, 7};
    const at::Tensor other = mask_of(single, single.forward());
    CHECK(at::equal(other[0], mask[2]));
    CHECK(at::equal(other[1], mask[0]));
    CHECK_FALSE(at::equal(other[2], mask[1]));
  }
}

TEST_CASE("where all is dropped nothing is left, and no infinity") {
  const SingleOperator single = dropped(at::kFloat, 1);
  const Outcome outcome = dropped(at::kFloat, 1).run(random({3, 40, 100}, at::kFloat, 9));
  CHECK(outcome.output.abs().max().item<double>() == 0);
  CHECK(outcome.input_gradients[0].abs().max().item<double>() == 0);
}

TEST_CASE("a batch without a seed for each sequence is a defect") {
  SingleOperator single = dropped(at::kFloat);
  single.seeds.pop_back();
  CHECK_THROWS_WITH(single.forward(), contains_text("2 seeds for 3 sequences"));
}

// native_dropout reads x and writes y and a mask of a byte an element; backward reads that. Without a
// gradient the mask is a temporary.
TEST_CASE("bytes of dropout, by hand") {
  const std::int64_t n = 3 * 40 * 100;
  SingleOperator single = dropped(at::kBFloat16);
  const Operator& op = single.graph().operators[0];
  const OperatorDescription description = k_dropout.describe(single.graph(), op);
  CHECK(total(description.forward) == Bytes{2 * n + 2 * n + n});
  CHECK(total(description.backward) == Bytes{2 * n + 2 * n + n});
  CHECK(description.saved_inputs == 0);
  CHECK(description.saved_outputs == 0);
  CHECK(kept_bytes(description) == Bytes{n});
  CHECK(description.forward_temporaries == Bytes{});

  single.inputs[0].wants_gradient = false;
  const SingleOperator frozen{k_dropout, single.inputs, {}, {3, 40, 100}, {{attribute::k_dropout, k_share}}};
  const OperatorDescription alone = k_dropout.describe(frozen.graph(), frozen.graph().operators[0]);
  CHECK(kept_bytes(alone) == Bytes{});
  CHECK(alone.forward_temporaries == Bytes{n});
}

TEST_CASE("attention that keeps its scores drops some of its probabilities") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t key_heads : {4, 2, 1}) {
      DroppedAttention{k_eager_stepped_attention, dtype, key_heads}.require();
      DroppedAttention{k_eager_math_attention, dtype, key_heads}.require();
      DroppedAttention{k_unfused_attention, dtype, key_heads}.require();
      DroppedAttention{k_unfused_attention, dtype, key_heads, true}.require();
    }
  }
}

// What dropout of n probabilities keeps: a mask, and what it left of them. eager attention in bfloat16 keeps
// the undropped ones in float32 alone.
TEST_CASE("bytes that dropout adds to attention, by hand") {
  const std::int64_t n = 2 * 4 * 13 * 13;
  const auto added = [](const OperatorType& type, at::ScalarType dtype) {
    const SingleOperator with = DroppedAttention{type, dtype}.single();
    ModelGraph without = with.graph();
    without.operators[0].attributes.set(attribute::k_dropout, 0.0);
    return (kept_bytes(type.describe(with.graph(), with.graph().operators[0])) -
            kept_bytes(type.describe(without, without.operators[0])))
        .value;
  };
  CHECK(added(k_unfused_attention, at::kBFloat16) == n + 2 * n);
  CHECK(added(k_eager_math_attention, at::kBFloat16) == n + 4 * n);
  CHECK(added(k_eager_stepped_attention, at::kBFloat16) == n);
  CHECK(added(k_eager_stepped_attention, at::kFloat) == n + 4 * n);
}

}  // namespace shardlab::test
