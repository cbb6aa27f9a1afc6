// Workspace: none. Rows are taken in pieces of a fixed width, converted to float32 on the stack, so that the
// two logits may differ in dtype; the mean is summed in double, in order, whatever the number of threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_piece = 1024;  // elements of a row at a time
constexpr std::int64_t k_block = 64;    // rows whose losses wait to be summed

using Piece = std::array<float, k_piece>;

// What forward leaves of a row for its backward.
struct RowSums {
  float plain;     // log-sum-exp of s
  float softened;  // of s / T
  float teachers;  // of t / T
};
static_assert(sizeof(RowSums) == 3 * sizeof(float));

struct Terms {
  explicit Terms(const Operator& op)
      : inverse_temperature(static_cast<float>(1 / op.attributes.get(attribute::k_temperature))),
        temperature(op.attributes.get(attribute::k_temperature)),
        weight(op.attributes.get(attribute::k_weight)) {}
  float inverse_temperature;
  double temperature, weight;
};

// One row of logits as float32, piece by piece.
class Row {
 public:
  Row(const at::Tensor& logits, std::int64_t row) : width_(width_of(logits)) {
    with_element_type(logits, [&](auto element) {
      using T = decltype(element);
      start_ = data_of<T>(logits) + row * width_;
      read_ = [](const void* start, std::int64_t from, std::int64_t count, float* to) {
        std::fill_n(to, count, 0.0f);
        row_kernels<T>().add_row(static_cast<const T*>(start) + from, count, to);
      };
    });
  }

  std::int64_t width() const { return width_; }
  void read(std::int64_t from, std::int64_t count, float* to) const { read_(start_, from, count, to); }
  void read(std::int64_t from, std::int64_t count, float factor, float* to) const {
    read(from, count, to);
    row_kernels<float>().scale(factor, to, count, to);
  }
  float at(std::int64_t column) const {
    float value = 0;
    read(column, 1, &value);
    return value;
  }

 private:
  std::int64_t width_;
  const void* start_ = nullptr;
  void (*read_)(const void* start, std::int64_t from, std::int64_t count, float* to) = nullptr;
};

// visit(from, count) for the pieces of a row.
template <typename F>
void for_pieces(std::int64_t width, F&& visit) {
  for (std::int64_t from = 0; from < width; from += k_piece) visit(from, std::min(k_piece, width - from));
}

float log_sum_exp(const Row& row, float factor) {
  Piece piece;
  double total = -std::numeric_limits<double>::infinity();
  for_pieces(row.width(), [&](std::int64_t from, std::int64_t count) {
    row.read(from, count, factor, piece.data());
    float part = 0;
    row_kernels<float>().log_sum_exp(piece.data(), 1, count, &part);
    const double high = std::max<double>(total, part), low = std::min<double>(total, part);
    if (std::isnan(part)) {
      total = part;
    } else {
      total = std::isinf(low) ? high : high + std::log1p(std::exp(low - high));
    }
  });
  return static_cast<float>(total);
}

// exp(x - log_sum_exp) in place.
void to_probabilities(float log_sum_exp, std::int64_t count, float* x) {
  row_kernels<float>().probabilities({x, 1, count, count}, &log_sum_exp, x);
}

// p log(p / q) + q - p >= 0, of d = log(p / q). Close to 0 by the series of p (d + exp(-d) - 1), whose terms
// do not cancel.
float divergence_of(float p, float q, float d) {
  const float series = d * d * (1 / 2.0f - d * (1 / 6.0f - d * (1 / 24.0f - d * (1 / 120.0f - d / 720.0f))));
  return std::abs(d) < 0.25f ? p * series : p * d + (q - p);
}

// sum_v p_v (log p_v - log q_v). What is added to every term, q_v - p_v, sums to nothing; with it the
// rounding of the logarithms of the sums leaves the result, which is far smaller than that rounding where the
// models nearly agree.
double divergence(const Row& student, const Row& teacher, const RowSums& sums, float inverse_temperature) {
  Piece p, q, difference;
  const float shift = sums.teachers - sums.softened;
  double total = 0;
  for_pieces(student.width(), [&](std::int64_t from, std::int64_t count) {
    teacher.read(from, count, inverse_temperature, p.data());
    student.read(from, count, inverse_temperature, q.data());
    for (std::int64_t i = 0; i < count; ++i) difference[i] = p[i] - q[i] - shift;
    to_probabilities(sums.teachers, count, p.data());
    to_probabilities(sums.softened, count, q.data());
    for (std::int64_t i = 0; i < count; ++i)
      total += static_cast<double>(divergence_of(p[i], q[i], difference[i]));
  });
  return total;
}

void check_targets(const std::int64_t* targets, std::int64_t rows, std::int64_t classes) {
  for (std::int64_t row = 0; row < rows; ++row) {
    TORCH_CHECK_INDEX(targets[row] >= 0 && targets[row] < classes, "target ", targets[row], " of row ", row,
                      " is not below ", classes, ", the number of classes");
  }
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor &logits = arguments.inputs[0], &teachers = arguments.inputs[2];
  const std::int64_t rows = rows_of(logits), classes = width_of(logits);
  const auto* targets = data_of<std::int64_t>(arguments.inputs[1]);
  auto* sums = reinterpret_cast<RowSums*>(data_of<float>(arguments.extras[0]));
  const Terms terms(arguments.op);
  check_targets(targets, rows, classes);
  const auto loss_of = [&](std::int64_t at) {
    const Row student(logits, at), teacher(teachers, at);
    RowSums& row = sums[at];
    row = {log_sum_exp(student, 1), log_sum_exp(student, terms.inverse_temperature),
           log_sum_exp(teacher, terms.inverse_temperature)};
    const double hard = static_cast<double>(row.plain) - static_cast<double>(student.at(targets[at]));
    const double soft = divergence(student, teacher, row, terms.inverse_temperature);
    return (1 - terms.weight) * hard + terms.weight * terms.temperature * terms.temperature * soft;
  };
  double total = 0;
  std::array<double, k_block> losses;
  for (std::int64_t first = 0; first < rows; first += k_block) {
    const std::int64_t count = std::min(k_block, rows - first);
    for_rows(count, classes, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) losses[i] = loss_of(first + i);
    });
    for (std::int64_t i = 0; i < count; ++i) total += losses[i];
  }
  *data_of<float>(arguments.outputs[0]) = static_cast<float>(total / static_cast<double>(rows));
}

// ds = hard (softmax(s) - one_hot) + soft (q - p), piece by piece over s itself: a piece is read before it is
// written.
template <typename T>
void write_gradient(const Row& student, const Row& teacher, const RowSums& sums, std::int64_t target,
                    float hard, float soft, float inverse_temperature, T* gradient) {
  Piece plain, q, p;
  const auto& kernels = row_kernels<float>();
  for_pieces(student.width(), [&](std::int64_t from, std::int64_t count) {
    student.read(from, count, plain.data());
    kernels.scale(inverse_temperature, plain.data(), count, q.data());
    teacher.read(from, count, inverse_temperature, p.data());
    to_probabilities(sums.plain, count, plain.data());
    to_probabilities(sums.softened, count, q.data());
    to_probabilities(sums.teachers, count, p.data());
    if (target >= from && target < from + count) plain[target - from] -= 1;
    for (std::int64_t i = 0; i < count; ++i) q[i] = hard * plain[i] + soft * (q[i] - p[i]);
    row_kernels<T>().store_row(q.data(), false, count, gradient + from);
  });
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor &logits = arguments.saved_inputs[0], &teachers = arguments.saved_inputs[2];
  const at::Tensor& gradient = arguments.input_gradients[0];
  if (!gradient.defined()) return;
  const std::int64_t rows = rows_of(logits), classes = width_of(logits);
  const auto* targets = data_of<std::int64_t>(arguments.saved_inputs[1]);
  const auto* sums = reinterpret_cast<const RowSums*>(data_of<float>(arguments.extras[0]));
  const Terms terms(arguments.op);
  const double scale = arguments.seed / static_cast<double>(rows);
  const auto hard = static_cast<float>(scale * (1 - terms.weight));
  const auto soft = static_cast<float>(scale * terms.weight * terms.temperature);
  with_element_type(gradient, [&](auto element) {
    using T = decltype(element);
    T* to = data_of<T>(gradient);
    for_rows(rows, classes, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        write_gradient<T>(Row(logits, row), Row(teachers, row), sums[row], targets[row], hard, soft,
                          terms.inverse_temperature, to + row * classes);
      }
    });
  });
}

}  // namespace

extern const OperatorImplementation k_distillation_loss_implementation{forward, backward};

}  // namespace shardlab
