// Eager attention that is handed matrices: biases, masks, a window; and one whose output is copied. Against
// autograd of the plain formula, and what it keeps and moves against a count by hand.
#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

const auto k_dtypes = {at::kFloat, at::kBFloat16, at::kHalf};

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
