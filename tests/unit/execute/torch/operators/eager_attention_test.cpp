// Eager attention with its scores in memory, step by step, by its formula and with a soft cap, against
// autograd of the plain formula, and what it keeps and moves against a count by hand.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};

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

}  // namespace

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

// GPT2Attention: q, k and v are sections of one input, softmax is in their dtype.
SingleOperator sections(at::ScalarType dtype, std::int64_t batch, std::int64_t sequence) {
  const double lowest = dtype == at::kHalf ? -65504 : -3.3895313892515355e38;
  const at::Tensor hidden = at::ones({sequence, sequence}, at::kBool).triu(1);
  return {k_eager_stepped_attention,
          {{random({batch, sequence, 3 * 32}, dtype, 1)},
           {at::zeros({batch, 1, sequence, sequence}, dtype).masked_fill(hidden, lowest), false}},
          {},
          {batch, sequence, 32},
          {{attribute::k_heads, 4},
           {attribute::k_kv_heads, 4},
           {attribute::k_head_dim, 8},
           {attribute::k_packed, Packing::sections},
           {attribute::k_narrow_softmax, true}}};
}

TEST_CASE("eager attention step by step of sections, with softmax in their dtype") {
  for (const at::ScalarType dtype : k_dtypes) {
    for (const std::int64_t batch : {1, 3}) {
      CAPTURE(dtype, batch);
      const auto plain = [=](const std::vector<at::Tensor>& in, const auto&) {
        const auto parts = in[0].view({batch, 13, 3, 4, 8}).permute({2, 0, 3, 1, 4}).unbind(0);
        const at::Tensor scores = at::matmul(parts[0], parts[1].transpose(2, 3)) / std::sqrt(8.0) + in[1];
        return at::matmul(at::softmax(scores, -1), parts[2]).transpose(1, 2).reshape({batch, 13, 32});
      };
      require_as_reference(sections(dtype, batch, 13), plain, dtype == at::kFloat ? 4e-6 : 2e-2);
    }
  }
}

// In bfloat16, n bytes of scores, p of q, k or v, m of masks, several sequences. Forward: q and k copied 4p,
// scale 2n, + mask 2n + m, softmax 2n, v copied 2p, heads put together 2p. Backward: dy copied 2p, softmax
// 6n, scale 2n, three copied 6p and put together 6p. A product reads and writes 2p + n.
TEST_CASE("bytes and operations of eager attention of sections, by hand") {
  const SingleOperator single = sections(at::kBFloat16, 2, 16);
  const OperatorDescription description =
      k_eager_stepped_attention.describe(single.graph(), single.graph().operators[0]);
  const std::int64_t n = 2 * 4 * 16 * 16 * 2, p = 2 * 16 * 32 * 2, m = 2 * 16 * 16 * 2;
  CHECK(total(description.forward) == Bytes{6 * n + m + 8 * p + 2 * (2 * p + n)});
  CHECK(total(description.backward) == Bytes{8 * n + 14 * p + 4 * (2 * p + n)});
  CHECK(description.saved_inputs == 0);
  CHECK(kept_bytes(description) == Bytes{3 * p + n});
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

}  // namespace shardlab::test
