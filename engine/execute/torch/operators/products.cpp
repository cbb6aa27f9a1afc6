#include "engine/execute/torch/operators/products.h"

#include <ATen/Parallel.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engine/execute/torch/kernels/blas.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

// What is summed in float32 at a time: half a megabyte a thread, like the scratch memory of other BLAS
// no part of a plan.
constexpr std::int64_t k_tile_rows = 256, k_tile_columns = 512;

// Whether ATen multiplies matrices of this type on this processor element by element: it hands bfloat16 to
// oneDNN where AVX512 is (mkldnn_bf16_device_check), float16 where AVX512_FP16 is.
bool is_slow_in_aten(const at::Tensor& matrix) {
  if (!matrix.is_cpu()) return false;
  if (matrix.scalar_type() == at::kHalf) return true;
  static const bool has_avx512 = best_instruction_set() == InstructionSet::avx512;
  return matrix.scalar_type() == at::kBFloat16 && !has_avx512;
}

bool fits_32_bits(std::int64_t value) {
  return value <= std::numeric_limits<std::int32_t>::max();
}

// As BLAS reads it; none where neither rows nor columns lie without gaps.
template <typename T>
std::optional<MatrixView<T>> view_of(const at::Tensor& matrix) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  const auto* data = static_cast<const T*>(matrix.const_data_ptr());
  if (matrix.stride(1) == 1 || columns <= 1)
    return MatrixView<T>{data, std::max({matrix.stride(0), columns, std::int64_t{1}}), false};
  if (matrix.stride(0) == 1 || rows <= 1)
    return MatrixView<T>{data, std::max({matrix.stride(1), rows, std::int64_t{1}}), true};
  return std::nullopt;
}

// The part of a matrix that begins at a row and a column.
template <typename T>
MatrixView<T> part_of(MatrixView<T> view, std::int64_t row, std::int64_t column) {
  view.data += view.transposed ? column * view.stride + row : row * view.stride + column;
  return view;
}

// y [rows, columns] with rows `stride` apart, those of the addend `addend_stride` (0: one for all); null:
// none.
template <typename T>
struct TiledProduct {
  std::int64_t rows, columns, inner;
  MatrixView<T> a, b;
  T* y;
  std::int64_t stride;
  const T* addend = nullptr;
  std::int64_t addend_stride = 0;
  ProductFactors factors = {};

  std::int64_t tiles_across() const { return (columns + k_tile_columns - 1) / k_tile_columns; }
  std::int64_t tiles() const { return (rows + k_tile_rows - 1) / k_tile_rows * tiles_across(); }

  void make_tile(std::int64_t tile, std::vector<float>& sums) const {
    const std::int64_t row = tile / tiles_across() * k_tile_rows;
    const std::int64_t column = tile % tiles_across() * k_tile_columns;
    const std::int64_t height = std::min(k_tile_rows, rows - row);
    const std::int64_t width = std::min(k_tile_columns, columns - column);
    sums.assign(static_cast<std::size_t>(height * width), 0.0f);
    for (std::int64_t i = 0; addend != nullptr && i < height; ++i)
      row_kernels<T>().add_scaled_row(static_cast<float>(factors.addend),
                                      addend + (row + i) * addend_stride + column, width,
                                      sums.data() + i * width);
    multiply(height, width, inner, static_cast<float>(factors.product), part_of(a, row, 0),
             part_of(b, 0, column), addend != nullptr ? 1.0f : 0.0f, sums.data(), width);
    for (std::int64_t i = 0; i < height; ++i)
      row_kernels<T>().store_row(sums.data() + i * width, false, width, y + (row + i) * stride + column);
  }

  void make() const {
    at::parallel_for(0, tiles(), 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> sums;
      for (std::int64_t tile = begin; tile < end; ++tile) make_tile(tile, sums);
    });
  }
};

// None where it is not for this path: another type or device, or strides that BLAS does not take.
template <typename T>
std::optional<TiledProduct<T>> tiled(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  const auto left = view_of<T>(a), right = view_of<T>(b);
  const bool by_rows = y.stride(1) == 1 || y.size(1) <= 1;
  if (!left || !right || !by_rows) return std::nullopt;
  const std::int64_t largest = std::max({y.size(0), y.size(1), a.size(1), left->stride, right->stride});
  if (!fits_32_bits(largest)) return std::nullopt;
  return TiledProduct<T>{
      y.size(0), y.size(1), a.size(1), *left, *right, static_cast<T*>(y.mutable_data_ptr()), y.stride(0)};
}

// Calls function(T{}) for a type that is better multiplied in tiles; says whether that did it.
template <typename F>
bool in_tiles(const at::Tensor& y, F&& function) {
  if (!is_slow_in_aten(y)) return false;
  return y.scalar_type() == at::kHalf ? function(Float16{}) : function(BFloat16{});
}

}  // namespace

void product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  const bool done = in_tiles(y, [&](auto element) {
    const auto work = tiled<decltype(element)>(y, a, b);
    if (work) work->make();
    return work.has_value();
  });
  at::Tensor result = y;
  if (!done) at::mm_out(result, a, b);
}

void add_product(const at::Tensor& y, const at::Tensor& addend, const at::Tensor& a, const at::Tensor& b,
                 ProductFactors factors) {
  const bool done = in_tiles(y, [&](auto element) {
    using T = decltype(element);
    auto work = tiled<T>(y, a, b);
    if (!work || addend.stride(-1) != 1) return false;
    work->factors = factors;
    if (factors.addend != 0) work->addend = static_cast<const T*>(addend.const_data_ptr());
    work->addend_stride = addend.dim() == 1 ? 0 : addend.stride(0);
    work->make();
    return true;
  });
  at::Tensor result = y;
  if (!done) at::addmm_out(result, addend, a, b, factors.addend, factors.product);
}

void batched_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  const bool done = in_tiles(y, [&](auto element) {
    std::vector<TiledProduct<decltype(element)>> all;
    for (std::int64_t i = 0; i < y.size(0); ++i) {
      const auto work = tiled<decltype(element)>(y[i], a[i], b[i]);
      if (!work) return false;
      all.push_back(*work);
    }
    at::parallel_for(0, y.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> sums;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto& work = all[static_cast<std::size_t>(i)];
        for (std::int64_t tile = 0; tile < work.tiles(); ++tile) work.make_tile(tile, sums);
      }
    });
    return true;
  });
  at::Tensor result = y;
  if (!done) at::bmm_out(result, a, b);
}

at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor y = at::empty({a.size(0), a.size(1), b.size(2)}, a.options());
  batched_product(y, a, b);
  return y;
}

}  // namespace shardlab
