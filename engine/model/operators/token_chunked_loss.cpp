// The head and the loss in one, over a part of the tokens at a time: logits = x W^T (+ b), their mean
// cross-entropy against the targets. Inputs: x [batch, sequence, width], targets [batch, sequence];
// parameters: weight [vocabulary, width], optional bias. Output: the scalar loss, float32. Attribute: chunks,
// the number of parts.
//
// No more logits exist than those of one part: forward makes the gradients too, while they are there, as if
// the loss had the gradient 1 (Liger's fused linear cross-entropy, arXiv 2410.10989), and keeps them;
// backward multiplies them by the loss' own. So three products, as of head and loss apart, all in forward;
// and the weight's gradient exists twice until backward has handed it over.
#include <algorithm>

#include "engine/model/operators/chunked_loss_sizes.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_token_chunked_loss(const ModelGraph& graph, const Operator& op) {
  const ChunkedLossSizes s(graph, op);
  const std::int64_t rows = chunk_extent(s.rows, s.chunks), chunks = chunk_count(s.rows, s.chunks);
  const Bytes logits = bytes_of(s.rows * s.vocabulary, s.dtype);
  OperatorDescription description;
  if (s.of_input) description.extras.push_back({"hidden_gradient", {s.rows, s.width}, s.dtype});
  if (s.of_weight) description.extras.push_back({"weight_gradient", {s.vocabulary, s.width}, s.dtype});
  if (s.of_bias) description.extras.push_back({"bias_gradient", {s.vocabulary}, s.dtype});
  description.forward_temporaries = bytes_of(rows * s.vocabulary, s.dtype) + bytes_of(rows, DType::float32);
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
};

}  // namespace shardlab
