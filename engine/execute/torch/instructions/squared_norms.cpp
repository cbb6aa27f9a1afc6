#include "engine/execute/torch/instructions/squared_norms.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include <array>

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

}  // namespace shardlab
