// Losses.
#include <algorithm>

#include "engine/model/operators/losses.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {

// Mean cross-entropy over all rows of logits [batch, sequence, vocabulary] against targets [batch, sequence];
// output: the scalar loss, float32. Arithmetic is float32 whatever the logits' dtype.
//
// Keeps the logits and one float32 log-sum-exp a row; backward writes the gradient over the logits.

namespace {

OperatorDescription describe_cross_entropy(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const std::int64_t rows = element_count(logits.shape) / logits.shape.back();
  OperatorDescription description;
  description.saved_inputs = 0b11;
  description.overwritten_inputs = 0b01;
  description.extras.push_back({"log_sum_exp", {rows}, DType::float32});
  description.forward.push_back(memory_work(logits.bytes()));
  description.backward.push_back(memory_work(logits.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_cross_entropy{
    .name = "cross_entropy",
    .describe = describe_cross_entropy,
    .probe = &k_loss_probe,
    .common = true,
    .eager_type = &k_eager_cross_entropy,
};

// What a student learns from a teacher, over N rows of logits s (the student's) and t (the teacher's) [batch,
// sequence, vocabulary]:
//
//   loss = (1 - w) CE(s, targets) + w T^2 KL
//   CE   = 1/N sum over rows of -log softmax(s)[target]
//   KL   = 1/N sum over rows of sum_v p_v (log p_v - log q_v), p = softmax(t / T), q = softmax(s / T)
//
// (Hinton, Vinyals, Dean: arXiv 1503.02531; KL is torch.nn.functional.kl_div(log_softmax(s / T), softmax(t /
// T), reduction='batchmean') of logits flattened to [N, vocabulary].) Inputs: s, targets [batch, sequence],
// t; attributes: temperature T, weight w. Output: the scalar loss, float32. Arithmetic is float32 whatever
// the dtypes of s and t, which may differ.
//
// Keeps both logits and three float32 a row: the log-sum-exp of s, of s / T and of t / T. Backward writes
// over the student's logits
//   ds = ((1 - w) (softmax(s) - one_hot(target)) + w T (q - p)) / N.

namespace {

OperatorDescription describe_distillation_loss(const ModelGraph& graph, const Operator& op) {
  const Tensor& student = graph.tensor(op.inputs[0]);
  const Tensor& teacher = graph.tensor(op.inputs[2]);
  const std::int64_t rows = element_count(student.shape) / student.shape.back();
  OperatorDescription description;
  description.saved_inputs = 0b111;
  description.overwritten_inputs = 0b001;
  description.extras.push_back({"log_sum_exp", {rows, 3}, DType::float32});
  description.forward.push_back(memory_work(student.bytes() + teacher.bytes()));
  description.backward.push_back(memory_work(student.bytes() * 2 + teacher.bytes()));
  return description;
}

}  // namespace

extern const OperatorType k_distillation_loss{.name = "distillation_loss",
                                              .describe = describe_distillation_loss,
                                              .eager_type = &k_eager_distillation_loss};

// The head and the loss in one, over a part of the tokens at a time: logits = x W^T (+ b), their mean
// cross-entropy against the targets. Inputs: x [batch, sequence, width], targets [batch, sequence];
// parameters: weight [vocabulary, width], optional bias. Output: the scalar loss, float32. Attribute: chunks,
// the number of parts.
//
// No more logits exist than those of one part: forward makes the gradients too, while they are there, as if
// the loss had the gradient 1 (Liger's fused linear cross-entropy, arXiv 2410.10989), and keeps them;
// backward multiplies them by the loss' own. So three products, as of head and loss apart, all in forward;
// and the weight's gradient exists twice until backward has handed it over.

namespace {

OperatorDescription describe_token_chunked_loss(const ModelGraph& graph, const Operator& op) {
  const ChunkedLossSizes s(graph, op);
  const std::int64_t rows = chunk_extent(s.rows, s.chunks), chunks = chunk_count(s.rows, s.chunks);
  const Bytes logits = matrix_bytes(s.rows, s.vocabulary, s.dtype);
  OperatorDescription description;
  if (s.of_input) description.extras.push_back({"hidden_gradient", {s.rows, s.width}, s.dtype});
  if (s.of_weight) description.extras.push_back({"weight_gradient", {s.vocabulary, s.width}, s.dtype});
  if (s.of_bias) description.extras.push_back({"bias_gradient", {s.vocabulary}, s.dtype});
  description.forward_temporaries =
      matrix_bytes(rows, s.vocabulary, s.dtype) + bytes_of(rows, DType::float32);
  if (s.of_bias) description.forward_workspace = bytes_of(s.vocabulary, DType::float32);

  description.forward.push_back(products(chunks, rows, s.vocabulary, s.width, s.product(), s.dtype));
  description.forward.push_back(memory_work(logits * 3, static_cast<int>(2 * chunks)));
  const auto gradient = [&](bool wanted, std::int64_t m, std::int64_t n, std::int64_t k, Bytes bytes) {
    if (!wanted) return;
    description.forward.push_back(products(chunks, m, n, k, s.product(), s.dtype));
    description.backward.push_back(memory_work(bytes * 2));
  };
  gradient(s.of_input, rows, s.width, s.vocabulary, bytes_of(s.rows * s.width, s.dtype));
  gradient(s.of_weight, s.vocabulary, s.width, rows, bytes_of(s.vocabulary * s.width, s.dtype));
  if (s.of_bias) description.forward.push_back(memory_work(logits, static_cast<int>(chunks)));
  return description;
}

}  // namespace

extern const OperatorType k_token_chunked_loss{
    .name = "token_chunked_loss",
    .describe = describe_token_chunked_loss,
    .category = OperatorCategory::product,
    .autocast = AutocastRule::lower,
};

// distillation_loss and both heads in one, over a part of the tokens at a time: s = x W^T (+ b) of the
// student, t = h V^T (+ c) of the teacher. Inputs: x [batch, sequence, width], targets [batch, sequence], h
// [batch, sequence, width of the teacher]; parameters: W [vocabulary, width], optional b, then the teacher's,
// which need no gradient. Attributes: chunks, temperature, weight. Output: the scalar loss, float32.
//
// As token_chunked_loss: no more logits exist than those of one part, of either model, and forward makes and
// keeps the gradients. Of a part it computes what distillation_loss does, with three sums a row for it.

namespace {

OperatorDescription describe_chunked_distillation(const ModelGraph& graph, const Operator& op) {
  const ChunkedLossSizes s(graph, op);
  const Tensor& hidden = graph.tensor(op.inputs[2]);
  const std::int64_t rows = chunk_extent(s.rows, s.chunks), chunks = chunk_count(s.rows, s.chunks);
  const Bytes logits = matrix_bytes(s.rows, s.vocabulary, s.dtype);
  const Bytes teachers = matrix_bytes(s.rows, s.vocabulary, hidden.dtype);
  OperatorDescription description = describe_token_chunked_loss(graph, op);
  description.forward_temporaries = matrix_bytes(rows, s.vocabulary, s.dtype) +
                                    matrix_bytes(rows, s.vocabulary, hidden.dtype) +
                                    bytes_of(rows * 3 + 1, DType::float32);  // sums, and the part's loss
  const Flops product{saturated_product(2, s.rows, hidden.shape.back(), s.vocabulary)};
  description.forward.insert(
      description.forward.begin(),
      products(chunks, rows, s.vocabulary, hidden.shape.back(), product, hidden.dtype));
  description.forward.push_back(memory_work(teachers * 2 + logits, static_cast<int>(2 * chunks)));
  return description;
}

}  // namespace

extern const OperatorType k_chunked_distillation{
    .name = "chunked_distillation",
    .describe = describe_chunked_distillation,
    .category = OperatorCategory::product,
    .autocast = AutocastRule::undescribed,
};

// The head and the loss in one, over a part of the vocabulary at a time: inputs, parameters, output and
// attribute of token_chunked_loss.
//
// Keeps x and one float32 log-sum-exp a row, which the parts make together; backward makes the logits of each
// part again and turns them into their gradient (cut cross-entropy, arXiv 2411.09009). So one product more
// than head and loss apart, and no gradient exists before backward.

namespace {

OperatorDescription describe_vocabulary_chunked_loss(const ModelGraph& graph, const Operator& op) {
  const ChunkedLossSizes s(graph, op);
  const std::int64_t part = chunk_extent(s.vocabulary, s.chunks),
                     chunks = chunk_count(s.vocabulary, s.chunks);
  const Bytes part_logits = matrix_bytes(s.rows, part, s.dtype),
              logits = matrix_bytes(s.rows, s.vocabulary, s.dtype);
  const Bytes row = bytes_of(s.rows, DType::float32);
  OperatorDescription description;
  description.saved_inputs = 0b11;
  description.extras.push_back({"log_sum_exp", {s.rows}, DType::float32});
  description.forward_temporaries = part_logits + row * 2;  // log-sum-exp of a part, logit of the target
  description.backward_temporaries = part_logits;
  if (s.of_bias) description.backward_workspace = bytes_of(part, DType::float32);

  const Work forward = products(chunks, s.rows, part, s.width, s.product(), s.dtype);
  description.forward.push_back(forward);
  description.forward.push_back(memory_work(logits, static_cast<int>(chunks)));
  Work again = forward;
  again.model_flops = {};
  description.backward.push_back(again);
  description.backward.push_back(memory_work(logits * 2, static_cast<int>(chunks)));
  if (s.of_input)
    description.backward.push_back(products(chunks, s.rows, s.width, part, s.product(), s.dtype));
  if (s.of_weight)
    description.backward.push_back(products(chunks, part, s.width, s.rows, s.product(), s.dtype));
  if (s.of_bias) description.backward.push_back(memory_work(logits, static_cast<int>(chunks)));
  return description;
}

}  // namespace

extern const OperatorType k_vocabulary_chunked_loss{
    .name = "vocabulary_chunked_loss",
    .describe = describe_vocabulary_chunked_loss,
    .category = OperatorCategory::product,
    .autocast = AutocastRule::lower,
};

}  // namespace shardlab
