// cross_entropy as transformers computes it (5.23, loss/loss_utils.py ForCausalLMLoss): the logits in
// float32, log_softmax, the mean of the targets' logarithms. Inputs and output of cross_entropy.
//
// Keeps the logarithms of all probabilities in float32, and how many targets count, one float32.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

OperatorDescription describe_eager_cross_entropy(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const std::int64_t rows = element_count(logits.shape) / logits.shape.back();
  const Bytes wide = bytes_of(element_count(logits.shape), DType::float32),
              scalar = bytes_of(1, DType::float32);
  const bool casts = logits.dtype != DType::float32;
  OperatorDescription description;
  description.saved_inputs = 0b10;
  description.extras.push_back({"log_probabilities", {rows, logits.shape.back()}, DType::float32});
  description.extras.push_back({"total_weight", {1}, DType::float32});

  EagerSteps forward;
  if (casts) forward.make(wide, logits.bytes() + wide);
  if (casts) forward.results_follow();
  forward.kernel(wide * 2);
  forward.kernel(bytes_of(rows, DType::float32));
  describe_forward(description, forward);

  EagerSteps backward;
  backward.take(scalar);
  backward.make(wide, wide);  // zeros, and a number a row in them
  if (casts)
    backward.take(wide);
  else
    backward.results_follow();
  backward.kernel(wide * 3);
  if (casts) {
    backward.give(wide);
    backward.give_kept();
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
