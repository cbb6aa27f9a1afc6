// distillation_loss as a plain training loop computes it, over N rows of float32 copies of both logits:
//
//   soft = kl_div(log_softmax(s / T), softmax(t / T), reduction='batchmean')
//   loss = (1 - w) cross_entropy(s, targets) + w T^2 soft
//
// Inputs, attributes and output of distillation_loss. Source of the steps: torch 2.11, ATen/native/Loss.cpp
// (kl_div is xlogy(t, t) - t * s, summed) and its derivatives in tools/autograd/derivatives.yaml.
//
// Keeps three float32 tensors of rows x vocabulary: both log-softmaxes of the student and the teacher's
// probabilities; neither logits. Where logits are copied the loop has seven at once in forward, because the
// student's second log-softmax comes last; here what is kept is there from the beginning, one more. Five in
// backward.
#include "engine/model/operators/eager_steps.h"

namespace shardlab {
namespace {

struct Sizes {
  Sizes(const ModelGraph& graph, const Operator& op)
      : student(graph.tensor(op.inputs[0])), teacher(graph.tensor(op.inputs[2])) {
    rows = element_count(student.shape) / student.shape.back();
    wide = bytes_of(element_count(student.shape), DType::float32);
  }
  const Tensor &student, &teacher;
  std::int64_t rows;
  Bytes wide;  // of one float32 tensor of rows x vocabulary
};

bool is_copied(const Tensor& logits) {
  return logits.dtype != DType::float32;
}

// The float32 copies live until the loss is there, as a function's variables do.
EagerSteps forward_steps(const Sizes& s) {
  EagerSteps steps;
  for (const Tensor* logits : {&s.student, &s.teacher}) {
    if (is_copied(*logits)) steps.make(s.wide, logits->bytes() + s.wide);
  }
  for (int softmax = 0; softmax < 2; ++softmax) {
    steps.make(s.wide, s.wide * 2);  // divided by T
    steps.kernel(s.wide * 2);
    steps.give(s.wide);
  }
  steps.make(s.wide, s.wide * 2);  // t log t
  steps.make(s.wide, s.wide * 3);  // t log s
  steps.make(s.wide, s.wide * 3);  // their difference
  steps.give(s.wide * 2);
  steps.kernel(s.wide);  // summed
  steps.give(s.wide);
  steps.kernel(s.wide * 2);  // cross-entropy
  steps.kernel(bytes_of(s.rows, DType::float32));
  return steps;
}

// Autograd takes the cross-entropy first, which was computed last, and drops what each step has read.
EagerSteps backward_steps(const Sizes& s) {
  EagerSteps steps;
  steps.take(bytes_of(1, DType::float32));
  steps.make(s.wide, s.wide);  // zeros, and a number a row in them
  if (is_copied(s.student)) steps.take(s.wide);
  steps.kernel(s.wide * 3);
  steps.give(s.wide * 2);      // and the logarithms that were kept
  steps.make(s.wide, s.wide);  // the divergence's gradient, one number for all
  steps.make(s.wide, s.wide * 3);
  steps.give(s.wide * 2);  // and the teacher's probabilities
  steps.make(s.wide, s.wide * 3);
  steps.give(s.wide * 2);
  steps.make(s.wide, s.wide * 2);  // divided by T
  steps.give(s.wide);
  steps.kernel(s.wide * 3);
  if (is_copied(s.student)) {
    steps.take(s.wide * 2);  // what was kept stays to the end of the step after all
    steps.allocate_results();
    steps.kernel(s.wide + s.student.bytes());
  }
  return steps;
}

OperatorDescription describe_eager_distillation_loss(const ModelGraph& graph, const Operator& op) {
  const Sizes sizes(graph, op);
  const Shape shape{sizes.rows, sizes.student.shape.back()};
  OperatorDescription description;
  description.saved_inputs = 0b010;
  description.extras.push_back({"log_probabilities", shape, DType::float32});
  description.extras.push_back({"softened_log_probabilities", shape, DType::float32});
  description.extras.push_back({"teacher_probabilities", shape, DType::float32});
  description.extras.push_back({"total_weight", {1}, DType::float32});
  describe_forward(description, forward_steps(sizes));
  describe_backward(description, backward_steps(sizes));
  return description;
}

}  // namespace

extern const OperatorType k_eager_distillation_loss{.name = "eager_distillation_loss",
                                                    .describe = describe_eager_distillation_loss};

}  // namespace shardlab
