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
#include "engine/model/operators/work.h"

namespace shardlab {
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
                                              .describe = describe_distillation_loss};

}  // namespace shardlab
