#include <algorithm>
#include <array>

#include <ATen/Dispatch.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "engine/execute/torch/instructions/gradient_norms.h"
#include "engine/execute/torch/instructions/parameter_ranges.h"
#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {

namespace {

template <typename T>
double sum_of_squares(const T* values, std::int64_t count) {
  constexpr std::int64_t k_lanes = 8;
  std::array<double, k_lanes> sums{};
  std::int64_t i = 0;
  for (; i + k_lanes <= count; i += k_lanes) {
    for (std::int64_t lane = 0; lane < k_lanes; ++lane) {
      const auto value = static_cast<double>(static_cast<float>(values[i + lane]));
      sums[lane] += value * value;
    }
  }
  double total = 0;
  for (; i < count; ++i)
    total += static_cast<double>(static_cast<float>(values[i])) *
             static_cast<double>(static_cast<float>(values[i]));
  for (const double sum : sums) total += sum;
  return total;
}

double sum_of_squares(const at::Tensor& piece) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(
      at::kBFloat16, at::kHalf, piece.scalar_type(), "sum_of_squares",
      [&] { return sum_of_squares(piece.const_data_ptr<scalar_t>(), piece.numel()); });
}

}  // namespace

at::Tensor squared_norms(const std::vector<at::Tensor>& pieces, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::device) return at::stack(at::_foreach_norm(pieces, 2, at::kFloat)).square_();
  const MemoryLedger uncounted;  // eight bytes a piece, which no plan knows
  const LedgerScope scope(uncounted);
  const at::Tensor squares =
      at::empty({static_cast<std::int64_t>(pieces.size())}, at::TensorOptions(at::kDouble));
  auto* to = squares.mutable_data_ptr<double>();
  for (const at::Tensor& piece : pieces) *to++ = sum_of_squares(piece);
  return squares;
}

// GradientNorms: the squared norm of each trained parameter's gradient, or of all together, as far as this
// rank holds them; or the sum of squared norms that were taken before.

namespace {

// Elements of one trained parameter in a gradient buffer.
struct GradientPiece {
  Slot slot = k_no_slot;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t place = 0;  // of its sum among the norms
};

class GradientNorms : public Action {
 public:
  GradientNorms(const Site& site, Slot norms, std::vector<GradientPiece> pieces, std::vector<Slot> squares)
      : run_(site.run), norms_(norms), pieces_(std::move(pieces)), squares_(std::move(squares)) {}

  void run(StepContext&) override {
    const at::Tensor& norms = run_.buffers.tensor(norms_);
    norms.zero_();
    if (!squares_.empty()) add_squares(norms);
    if (pieces_.empty()) return;
    std::vector<at::Tensor> gradients;
    for (const GradientPiece& piece : pieces_)
      gradients.push_back(run_.buffers.range(piece.slot, piece.offset, piece.count));
    const at::Tensor squares = squared_norms(gradients, run_.backend->arithmetic());
    const MemoryLedger uncounted;  // eight bytes a norm and a piece, which no plan knows
    const LedgerScope scope(uncounted);
    const at::Tensor sums = at::zeros(norms.sizes(), norms.options().dtype(at::kDouble));
    norms.copy_(sums.index_add_(0, places(norms.device()), squares.to(at::kDouble)));
  }

 private:
  void add_squares(const at::Tensor& norms) const {
    const MemoryLedger uncounted;  // single numbers, which no plan knows
    const LedgerScope scope(uncounted);
    at::Tensor sum = at::zeros(norms.sizes(), norms.options().dtype(at::kDouble));
    for (const Slot square : squares_) sum.add_(run_.buffers.tensor(square).to(norms.device()));
    norms.copy_(sum);
  }

  // The place of each piece among the norms; from the first step on the tensor lies on the device.
  const at::Tensor& places(c10::Device device) {
    if (places_.defined()) return places_;
    std::vector<std::int64_t> numbers;
    for (const GradientPiece& piece : pieces_) numbers.push_back(piece.place);
    places_ = at::tensor(numbers, at::TensorOptions(at::kLong)).to(device);
    return places_;
  }

  RunState& run_;
  const Slot norms_;
  const std::vector<GradientPiece> pieces_;
  const std::vector<Slot> squares_;  // taken before, of gradients that lie elsewhere now
  at::Tensor places_;
};

// By ParameterId: the parameter's place among the trained ones, -1 for a frozen one.
std::vector<std::int64_t> places_of(const ModelGraph& graph) {
  std::vector<std::int64_t> places;
  std::int64_t trained = 0;
  for (const Parameter& parameter : graph.parameters) places.push_back(parameter.trainable ? trained++ : -1);
  return places;
}

}  // namespace

PreparedAction prepare_gradient_norms(const Site& site) {
  const Instruction& instruction = site.instruction();
  const std::vector<std::int64_t> places = places_of(site.run.planned.graph);
  const std::ptrdiff_t trained = std::ssize(places) - std::count(places.begin(), places.end(), -1);
  if (instruction.writes.size() != 1) return site.defect("writes one buffer");
  const Buffer& norms = site.buffer(instruction.writes[0]);
  const bool fits = norms.elements == 1 || norms.elements == trained;
  if (!fits || !is_floating_point(norms.dtype))
    return site.defect("writes one number a trained parameter, or one for all");
  std::vector<GradientPiece> pieces;
  std::vector<Slot> squares;
  for (const BufferId id : instruction.reads) {
    if (site.buffer(id).role == BufferRole::norms) {
      squares.push_back(site.slot(id));
      continue;
    }
    for (const HeldRange& range : held_ranges(site.run, site.buffer(id))) {
      const std::int64_t place = places[range.parameter.index()];
      if (place < 0 || range.count == 0) continue;
      pieces.push_back({site.slot(id), range.offset, range.count, norms.elements == 1 ? 0 : place});
    }
  }
  return std::make_unique<GradientNorms>(site, site.slot(instruction.writes[0]), std::move(pieces),
                                         std::move(squares));
}

}  // namespace shardlab
