// Workspace: the bias' gradient needs one float32 row a thread.
#include "engine/execute/torch/operators/chunked_distillation.h"

#include <array>

#include <ATen/ops/empty.h>

#include "engine/execute/torch/operators/chunked_loss.h"
#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/implementation_list.h"
#include "engine/model/operators/losses.h"

namespace shardlab {
namespace {

// The teacher's head follows the student's, which may have a bias.
std::size_t first_of_teacher(std::span<const at::Tensor> parameters) {
  return parameters[1].dim() == 1 ? 2 : 1;
}

// The loss of a part of the rows, as a share of all; the student's logits become their gradient.
void loss_of_part(const ForwardArguments& whole, const OperatorImplementation& loss,
                  const std::array<at::Tensor, 3>& inputs, const at::Tensor& sums, const at::Tensor& of_part,
                  double share) {
  const std::array<at::Tensor, 1> outputs{of_part}, extras{sums};
  loss.forward({whole.op, whole.graph, inputs, {}, outputs, extras});
  const std::array<at::Tensor, 3> gradients{inputs[0]};
  loss.backward({whole.op, whole.graph, {}, share, inputs, {}, {}, extras, gradients, {}});
}

void forward(const ForwardArguments& arguments) {
  chunked_distillation_forward(arguments, {k_distillation_loss_implementation, sum_into_bias});
}

}  // namespace

void chunked_distillation_forward(const ForwardArguments& arguments, const ChunkedDistillationParts& parts) {
  const KeptExtras kept(arguments);
  const at::Tensor x = matrix_of(arguments.inputs[0]), h = matrix_of(arguments.inputs[2]);
  const at::Tensor targets = arguments.inputs[1].view(-1);
  const std::size_t teacher = first_of_teacher(arguments.parameters);
  const auto students = arguments.parameters.first(teacher), teachers = arguments.parameters.subspan(teacher);
  const at::Tensor dx = kept.find("hidden_gradient"), dweight = kept.find("weight_gradient"),
                   dbias = kept.find("bias_gradient");
  const std::int64_t rows = x.size(0), classes = students[0].size(0);
  const std::int64_t extent = chunk_extent(rows, arguments.op.attributes.get(attribute::k_chunks));
  const at::Tensor memory = at::empty({extent, classes}, x.options());
  const at::Tensor memory_of_teacher = at::empty({extent, classes}, h.options());
  const at::Tensor sums = at::empty({extent, 3}, x.options().dtype(at::kFloat));
  const at::Tensor of_part = at::empty({1}, sums.options());
  at::Tensor total = arguments.outputs[0];
  total.zero_();
  for (std::int64_t begin = 0; begin < rows; begin += extent) {
    const std::int64_t count = std::min(extent, rows - begin);
    const double share = static_cast<double>(count) / static_cast<double>(rows);
    const at::Tensor part = x.narrow(0, begin, count), logits = memory.narrow(0, 0, count),
                     of_teacher = memory_of_teacher.narrow(0, 0, count);
    part_of_logits(students, part, 0, classes, logits);
    part_of_logits(teachers, h.narrow(0, begin, count), 0, classes, of_teacher);
    loss_of_part(arguments, parts.loss, {logits, targets.narrow(0, begin, count), of_teacher},
                 sums.narrow(0, 0, count), of_part, share);
    total.view(-1).add_(of_part, share);
    if (dx.defined()) multiply_into(dx.narrow(0, begin, count), logits, students[0], false);
    if (dweight.defined()) multiply_into(dweight, logits.t(), part, begin > 0);
    if (dbias.defined()) parts.sum_into_bias(dbias, begin > 0, logits);
  }
}

// Backward scales what forward kept, as without a teacher.
extern const OperatorImplementation k_chunked_distillation_implementation{
    forward,
    [](const BackwardArguments& arguments) { k_token_chunked_loss_implementation.backward(arguments); }};

}  // namespace shardlab
