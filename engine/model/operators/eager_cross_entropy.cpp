// cross_entropy as transformers computes it (5.23, loss/loss_utils.py ForCausalLMLoss): the logits in
// float32, log_softmax, the mean of the targets' logarithms. Inputs and output of cross_entropy.
//
// With as_logits: as a program has it that calls torch.nn.functional.cross_entropy with what the model
// returned (torch 2.11): log_softmax reads a row in float32 and writes its logarithms in the logits' dtype.
//
// With copies_logits: as transformers had it before 4.49, whose loss takes a contiguous copy of all but the
// last position, and its gradient is put into zeros; of a batch of one they are contiguous as they are.
//
// Keeps the logarithms of all probabilities and how many targets count, one number, in the dtype computed in.
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

OperatorDescription describe_eager_cross_entropy(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const std::int64_t rows = element_count(logits.shape) / logits.shape.back();
  const DType dtype = op.attributes.get_or(attribute::k_as_logits, false) ? logits.dtype : DType::float32;
  const Bytes wide = bytes_of(element_count(logits.shape), dtype), scalar = bytes_of(1, dtype);
  const bool casts = logits.dtype != dtype;
  const bool copies = op.attributes.get_or(attribute::k_copies_logits, false) && logits.shape.front() > 1;
  OperatorDescription description;
  description.saved_inputs = 0b10;
  description.extras.push_back({"log_probabilities", {rows, logits.shape.back()}, dtype});
  description.extras.push_back({"total_weight", {1}, dtype});

  EagerSteps forward;
  if (casts) forward.make(wide, logits.bytes() + wide);
  if (copies) forward.make(wide, wide * 2);
  if (casts || copies) forward.results_follow();
  forward.kernel(wide * 2);
  forward.kernel(bytes_of(rows, dtype));
  if (dtype != DType::float32) forward.take(scalar);  // the loss, before it is a float32
  describe_forward(description, forward);

  EagerSteps backward;
  backward.take(scalar);
  backward.make(wide, wide);  // zeros, and a number a row in them
  if (casts || copies)
    backward.take(wide);
  else
    backward.results_follow();
  backward.kernel(wide * 3);
  if (casts || copies) {
    backward.give(wide);
    backward.give_kept();
  }
  if (copies && casts) backward.take(wide);
  if (copies && !casts) backward.allocate_results();
  if (copies) backward.kernel(wide * 3);  // zeros, and the gradient of all but the last position in them
  if (copies && casts) backward.give(wide);
  if (casts) {
    backward.allocate_results();
    backward.kernel(wide + logits.bytes());
  }
  describe_backward(description, backward);
  return description;
}

}  // namespace

extern const OperatorType k_eager_cross_entropy{
    .name = "eager_cross_entropy",
    .describe = describe_eager_cross_entropy,
    .probe = &k_loss_probe,
};

}  // namespace shardlab
