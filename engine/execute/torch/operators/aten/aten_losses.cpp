// Losses on any device, in double over float32 rows.
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

// The loss in double over float32 rows, a piece of the logits at a time. Workspace: three float32 copies of a
// piece.

namespace {

void cross_entropy_forward(const ForwardArguments& arguments) {
  const at::Tensor logits = as_rows(arguments.inputs[0]);
  const at::Tensor targets = arguments.inputs[1].view({-1, 1});
  const at::Tensor& log_sum_exp = arguments.extras[0];
  in_pieces(logits.size(0), logits.size(1), [&](std::int64_t first, std::int64_t count) {
    at::Tensor of_piece = log_sum_exp.narrow(0, first, count);
    at::logsumexp_out(of_piece, in_float(logits.narrow(0, first, count)), {1});
  });
  const at::Tensor own = at::gather(logits, 1, targets).view(-1).to(at::kDouble);
  arguments.outputs[0].copy_(log_sum_exp.to(at::kDouble).sub_(own).mean());
}

void cross_entropy_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor logits = as_rows(arguments.saved_inputs[0]);
  const at::Tensor gradient = as_rows(arguments.input_gradients[0]);
  const at::Tensor targets = arguments.saved_inputs[1].view({-1, 1});
  const double scale = arguments.seed / static_cast<double>(logits.size(0));
  in_pieces(logits.size(0), logits.size(1), [&](std::int64_t first, std::int64_t count) {
    const at::Tensor shift = arguments.extras[0].narrow(0, first, count).unsqueeze(1);
    const at::Tensor own = targets.narrow(0, first, count);
    at::Tensor slope = logits.narrow(0, first, count).to(at::kFloat).sub(shift).exp_();
    slope.scatter_(1, own, at::gather(slope, 1, own).sub_(1));
    gradient.narrow(0, first, count).copy_(slope.mul_(scale));
  });
}

}  // namespace

extern const OperatorImplementation k_device_cross_entropy{cross_entropy_forward, cross_entropy_backward};
extern const OperatorImplementation k_device_compiled_cross_entropy{cross_entropy_forward,
                                                                    cross_entropy_backward};

// The student's loss in double over float32 rows, a piece of the logits at a time. Workspace: eight float32
// copies of a piece.

namespace {

struct Terms {
  explicit Terms(const Operator& op)
      : temperature(op.attributes.get(attribute::k_temperature)),
        weight(op.attributes.get(attribute::k_weight)) {}
  double temperature, weight;
};

// A piece of both models' logits in float32.
struct Piece {
  at::Tensor student, softened, teacher;

  Piece(const at::Tensor& logits, const at::Tensor& teachers, std::int64_t first, std::int64_t count,
        double temperature)
      : student(in_float(logits.narrow(0, first, count))),
        softened(student.mul(1 / temperature)),
        teacher(teachers.narrow(0, first, count).to(at::kFloat).mul(1 / temperature)) {}
};

// The sums for the plain, the softened and the teacher's logits, laid out as the description's extra is.
at::Tensor sums_of(const at::Tensor& extra, std::int64_t first, std::int64_t count) {
  return extra.view({-1, 3}).narrow(0, first, count);
}

// p log(p / q) + q - p, of d = log(p / q): the added terms sum to nothing over a row and take the rounding of
// the logarithms of the sums out of the divergence, which is far smaller where models nearly agree.
at::Tensor divergence(const at::Tensor& p, const at::Tensor& q, const at::Tensor& d) {
  const at::Tensor near = d.neg().expm1_().add_(d).mul_(p);
  return at::where(d.abs().lt(0.25), near, q.sub_(p).addcmul_(p, d));
}

void distillation_loss_forward(const ForwardArguments& arguments) {
  const at::Tensor logits = as_rows(arguments.inputs[0]), teachers = as_rows(arguments.inputs[2]);
  const at::Tensor targets = arguments.inputs[1].view({-1, 1});
  const Terms terms(arguments.op);
  const at::Tensor total = at::zeros({}, logits.options().dtype(at::kDouble));
  in_pieces(logits.size(0), logits.size(1), [&](std::int64_t first, std::int64_t count) {
    const Piece piece(logits, teachers, first, count, terms.temperature);
    const at::Tensor sums = sums_of(arguments.extras[0], first, count);
    sums.select(1, 0).copy_(at::logsumexp(piece.student, {1}));
    sums.select(1, 1).copy_(at::logsumexp(piece.softened, {1}));
    sums.select(1, 2).copy_(at::logsumexp(piece.teacher, {1}));
    const at::Tensor own = at::gather(piece.student, 1, targets.narrow(0, first, count)).view(-1);
    const at::Tensor hard = sums.select(1, 0).to(at::kDouble).sub_(own).sum();
    const at::Tensor difference =
        piece.teacher.sub(piece.softened).sub_(sums.select(1, 2).sub(sums.select(1, 1)).unsqueeze(1));
    const at::Tensor p = piece.teacher.sub_(sums.select(1, 2).unsqueeze(1)).exp_();
    const at::Tensor q = piece.softened.sub_(sums.select(1, 1).unsqueeze(1)).exp_();
    const at::Tensor soft = divergence(p, q, difference).sum(at::kDouble);
    total.add_(hard.mul_(1 - terms.weight))
        .add_(soft.mul_(terms.weight * terms.temperature * terms.temperature));
  });
  arguments.outputs[0].copy_(total.div(static_cast<double>(logits.size(0))).view_as(arguments.outputs[0]));
}

// ds = (1 - w) (softmax(s) - one_hot) + w T (softmax(s / T) - softmax(t / T)), each a row's share of the
// mean.
void distillation_loss_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor logits = as_rows(arguments.saved_inputs[0]), teachers = as_rows(arguments.saved_inputs[2]);
  const at::Tensor gradient = as_rows(arguments.input_gradients[0]);
  const at::Tensor targets = arguments.saved_inputs[1].view({-1, 1});
  const Terms terms(arguments.op);
  const double scale = arguments.seed / static_cast<double>(logits.size(0));
  in_pieces(logits.size(0), logits.size(1), [&](std::int64_t first, std::int64_t count) {
    const Piece piece(logits, teachers, first, count, terms.temperature);
    const at::Tensor sums = sums_of(arguments.extras[0], first, count);
    const auto probabilities = [&](const at::Tensor& of, std::int64_t which) {
      return of.sub(sums.select(1, which).unsqueeze(1)).exp_();
    };
    const at::Tensor own = targets.narrow(0, first, count);
    const at::Tensor hard = probabilities(piece.student, 0);
    hard.scatter_(1, own, at::gather(hard, 1, own).sub_(1));
    const at::Tensor soft = probabilities(piece.softened, 1).sub_(probabilities(piece.teacher, 2));
    hard.mul_(scale * (1 - terms.weight)).add_(soft, scale * terms.weight * terms.temperature);
    gradient.narrow(0, first, count).copy_(hard);
  });
}

}  // namespace

extern const OperatorImplementation k_device_distillation_loss{distillation_loss_forward,
                                                               distillation_loss_backward};

}  // namespace shardlab
