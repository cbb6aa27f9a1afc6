// The head and the loss in one, over a part of the vocabulary at a time: inputs, parameters, output and
// attribute of token_chunked_loss.
//
// Keeps x and one float32 log-sum-exp a row, which the parts make together; backward makes the logits of each
// part again and turns them into their gradient (cut cross-entropy, arXiv 2411.09009). So one product more
// than head and loss apart, and no gradient exists before backward.
#include "engine/model/operators/chunked_loss_sizes.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_vocabulary_chunked_loss(const ModelGraph& graph, const Operator& op) {
  const ChunkedLossSizes s(graph, op);
  const std::int64_t part = chunk_extent(s.vocabulary, s.chunks),
                     chunks = chunk_count(s.vocabulary, s.chunks);
  const Bytes part_logits = bytes_of(s.rows * part, s.dtype),
              logits = bytes_of(s.rows * s.vocabulary, s.dtype);
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
};

}  // namespace shardlab
