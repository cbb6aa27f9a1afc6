// Products of operators against float64, whatever the layouts, the type and the number of tiles.
#include "engine/execute/torch/operators/products.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include "tests/unit/execute/torch/operators/single_operator.h"

namespace shardlab::test {
namespace {

// [rows, columns] by rows, by columns, or a part of something larger.
enum class Layout { rows, columns, part, strided };

at::Tensor matrix(std::int64_t rows, std::int64_t columns, at::ScalarType dtype, Layout layout, int seed) {
  switch (layout) {
    case Layout::rows: return random({rows, columns}, dtype, seed);
    case Layout::columns: return random({columns, rows}, dtype, seed).t();
    case Layout::part:
      return random({rows + 3, columns + 5}, dtype, seed).narrow(0, 2, rows).narrow(1, 4, columns);
    case Layout::strided:
      return random({rows, columns * 2}, dtype, seed).unflatten(1, {columns, 2}).select(2, 0);
  }
  return {};
}

// Sums in float32 are rounded once to the type.
void require_close(const at::Tensor& y, const at::Tensor& expected, at::ScalarType dtype) {
  const double epsilon = dtype == at::kFloat ? 2e-6 : dtype == at::kHalf ? 0x1p-11 : 0x1p-8;
  const at::Tensor error = (y.to(at::kDouble) - expected).abs() - expected.abs() * epsilon;
  REQUIRE((y.numel() == 0 || error.max().item<double>() <= 2e-5));
}

struct Size {
  std::int64_t rows, columns, inner;
};

}  // namespace

TEST_CASE("a product is that of float64, by rows, by columns and in parts of matrices") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const Size& size : {Size{1, 1, 1}, Size{1, 9, 4}, Size{7, 1, 5}, Size{3, 5, 0}, Size{40, 33, 129},
                             Size{300, 530, 17}}) {
      for (const Layout left : {Layout::rows, Layout::columns, Layout::part, Layout::strided}) {
        for (const Layout right : {Layout::rows, Layout::columns, Layout::part, Layout::strided}) {
          CAPTURE(dtype, size.rows, size.columns, size.inner, static_cast<int>(left),
                  static_cast<int>(right));
          const at::Tensor a = matrix(size.rows, size.inner, dtype, left, 1);
          const at::Tensor b = matrix(size.inner, size.columns, dtype, right, 2);
          const at::Tensor y = random({size.rows, size.columns}, dtype, 3);
          product(y, a, b);
          require_close(y, at::mm(a.to(at::kDouble), b.to(at::kDouble)), dtype);
        }
      }
    }
  }
}

TEST_CASE("a product is added to a matrix, to one row for all, and to the result itself") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const Size& size : {Size{5, 7, 3}, Size{300, 530, 17}}) {
      const at::Tensor a = random({size.rows, size.inner}, dtype, 1),
                       b = random({size.columns, size.inner}, dtype, 2).t();
      const at::Tensor expected = at::mm(a.to(at::kDouble), b.to(at::kDouble));
      for (const ProductFactors factors : {ProductFactors{}, ProductFactors{0.5, 2}, ProductFactors{0, -1}}) {
        CAPTURE(dtype, size.rows, factors.addend, factors.product);
        const at::Tensor addend = random({size.rows, size.columns}, dtype, 4),
                         row = random({size.columns}, dtype, 5);
        const at::Tensor y = random({size.rows, size.columns}, dtype, 3);
        for (const at::Tensor& each : {addend, row}) {
          add_product(y, each, a, b, factors);
          require_close(y, each.to(at::kDouble) * factors.addend + expected * factors.product, dtype);
        }
        const at::Tensor before = y.to(at::kDouble);
        add_product(y, y, a, b, factors);
        require_close(y, before * factors.addend + expected * factors.product, dtype);
      }
    }
  }
}

TEST_CASE("with a factor of 0 an addend is not read") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor a = random({4, 6}, dtype, 1), b = random({6, 5}, dtype, 2),
                     y = at::zeros({4, 5}, a.options());
    y.fill_(std::numeric_limits<double>::quiet_NaN());
    add_product(y, y, a, b, {.addend = 0, .product = 1});
    REQUIRE(y.isfinite().all().item<bool>());
  }
}

TEST_CASE("a product writes nothing beside its result") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor whole = at::zeros({10, 12}, at::TensorOptions(dtype));
    product(whole.narrow(0, 2, 5).narrow(1, 3, 4), random({5, 6}, dtype, 1), random({6, 4}, dtype, 2));
    REQUIRE(whole.narrow(0, 2, 5).narrow(1, 3, 4).count_nonzero().item<std::int64_t>() == 20);
    REQUIRE(whole.count_nonzero().item<std::int64_t>() == 20);
  }
}

TEST_CASE("products of many matrices are each its own") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf}) {
    CAPTURE(dtype);
    const at::Tensor a = random({3, 20, 8}, dtype, 1), b = random({3, 30, 8}, dtype, 2).transpose(1, 2);
    require_close(batched_product(a, b), at::bmm(a.to(at::kDouble), b.to(at::kDouble)), dtype);
    const at::Tensor heads = random({20, 3, 8}, dtype, 3).transpose(0, 1);
    require_close(batched_product(heads, b), at::bmm(heads.to(at::kDouble), b.to(at::kDouble)), dtype);
    REQUIRE(batched_product(a.narrow(0, 0, 0), b.narrow(0, 0, 0)).numel() == 0);
  }
}

TEST_CASE("NaN and infinity of 16-bit matrices reach the product") {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const at::Tensor a = random({4, 6}, dtype, 1), b = random({6, 5}, dtype, 2),
                     y = at::zeros({4, 5}, a.options());
    a.select(0, 1).fill_(std::numeric_limits<double>::quiet_NaN());
    a.select(0, 2).fill_(std::numeric_limits<double>::infinity());
    product(y, a, b);
    REQUIRE(y.select(0, 1).isnan().all().item<bool>());
    REQUIRE_FALSE(y.select(0, 2).isfinite().any().item<bool>());
    REQUIRE(y.select(0, 0).isfinite().all().item<bool>());
  }
}

}  // namespace shardlab::test
