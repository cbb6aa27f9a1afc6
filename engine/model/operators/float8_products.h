// The works of a linear layer in float8 (torchao 0.10, float8_linear.py, matmul_with_hp_or_float8_args): each
// operand is scaled and cast before its product, dynamically; what is kept for backward is the input as it
// came, which is cast there again, as the weight is. Tensorwise, one scale needs the largest element of all
// first, a pass of its own; rowwise finds it on the way, and the gradient is cast along either side.
#pragma once

#include <algorithm>

#include "engine/model/operators/work.h"

namespace shardlab {

class Float8Linear {
 public:
  Float8Linear(Fp8Scaling scaling, std::int64_t rows, std::int64_t outputs, std::int64_t inputs, DType dtype)
      : scaling_(scaling), rows_(rows), outputs_(outputs), inputs_(inputs), dtype_(dtype) {}

  void describe(bool of_input, bool of_weight, OperatorDescription& description) const {
    const std::int64_t x = rows_ * inputs_, y = rows_ * outputs_, weight = outputs_ * inputs_;
    cast(x, description.forward);
    cast(weight, description.forward);
    description.forward.push_back(product(rows_, outputs_, inputs_));
    description.forward_temporaries = eight_bits(x + weight);
    const int casts_of_gradient = scaling_ == Fp8Scaling::rowwise && of_input && of_weight ? 2 : 1;
    if (of_input || of_weight)
      for (int i = 0; i < casts_of_gradient; ++i) cast(y, description.backward);
    if (of_input) {
      cast(weight, description.backward);
      description.backward.push_back(product(rows_, inputs_, outputs_));
    }
    if (of_weight) {
      cast(x, description.backward);
      description.backward.push_back(product(outputs_, inputs_, rows_));
    }
    description.backward_temporaries = eight_bits(y + std::max(of_input ? weight : 0, of_weight ? x : 0));
  }

 private:
  static Bytes eight_bits(std::int64_t elements) { return bytes_of(elements, DType::uint8); }

  void cast(std::int64_t elements, std::vector<Work>& works) const {
    const Bytes read = bytes_of(elements, dtype_);
    if (scaling_ == Fp8Scaling::tensorwise) works.push_back(memory_work(read));
    works.push_back(memory_work(read + eight_bits(elements)));
  }

  // Results are as wide as what was cast.
  Work product(std::int64_t m, std::int64_t n, std::int64_t k) const {
    Work work = matmul_work(m, n, k, DType::uint8);
    work.bytes = eight_bits(m * k + k * n) + bytes_of(m * n, dtype_);
    work.float8 = true;
    return work;
  }

  Fp8Scaling scaling_;
  std::int64_t rows_, outputs_, inputs_;
  DType dtype_;
};

}  // namespace shardlab
