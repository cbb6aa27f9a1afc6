// One operator in a graph of its own, run through one of its implementations, beside the same in float64 by
// ATen's autograd.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/place.h"

namespace shardlab::test {

struct OperatorInput {
  at::Tensor value;
  bool wants_gradient = true;
};

// What an implementation wrote. Everything was full of NaN before.
struct Outcome {
  at::Tensor output;
  std::vector<at::Tensor> extras;
  std::vector<at::Tensor> input_gradients;      // undefined where none was wanted
  std::vector<at::Tensor> parameter_gradients;  // undefined where the parameter is frozen
};

class SingleOperator {
 public:
  SingleOperator(const OperatorType& type, std::vector<OperatorInput> inputs,
                 std::vector<at::Tensor> parameters, Shape output_shape, Attributes attributes = {});

  Outcome forward() const;
  // `before`: what the gradients of the parameters hold and are added to; empty: they hold NaN and are
  // overwritten. An undefined output gradient stands for the loss. Where the description says so, gradients
  // are written over the inputs.
  Outcome run(const at::Tensor& output_gradient, double seed = 1, const std::vector<at::Tensor>& before = {});

  // The last so many parameters need no gradient.
  void freeze_last(std::size_t count);

  const ModelGraph& graph() const { return graph_; }
  std::vector<OperatorInput> inputs;
  std::vector<at::Tensor> parameters;
  std::vector<std::uint64_t> seeds;  // of random masks, one for each sequence

  // Inputs are copied, because backward may write gradients over them.
  SingleOperator copy_at(const Place& place) const;

 private:
  at::Tensor spoiled(at::IntArrayRef shape, at::ScalarType dtype) const;
  at::Tensor empty_like(TensorId tensor) const;
  ModelGraph graph_;
  Place place_;
};

using PlainFunction = std::function<at::Tensor(const std::vector<at::Tensor>& inputs,
                                               const std::vector<at::Tensor>& parameters)>;

// The same by autograd in float64. `before` as above.
Outcome reference(const SingleOperator& single, const PlainFunction& function,
                  const at::Tensor& output_gradient, double seed = 1,
                  const std::vector<at::Tensor>& before = {});

// Largest difference relative to the largest element expected.
double relative_difference(const at::Tensor& actual, const at::Tensor& expected);

// Compares output and gradients, wherever they are.
void require_close(const Outcome& actual, const Outcome& expected, double tolerance);

// Normal numbers, the same for the same arguments.
at::Tensor random(const Shape& shape, at::ScalarType dtype, std::uint64_t seed);

// Runs in all places, with and without accumulation, and compares with the reference, and the extras with the
// host's.
void require_as_reference(SingleOperator single, const PlainFunction& function, double tolerance);

// What forward makes for backward alone.
inline Bytes kept_bytes(const OperatorDescription& description) {
  Bytes sum;
  for (const ExtraTensor& extra : description.extras)
    sum += bytes_of(element_count(extra.shape), extra.dtype);
  return sum;
}

// The traffic of all.
inline Bytes total(const std::vector<Work>& works) {
  Bytes sum;
  for (const Work& work : works) sum += work.bytes;
  return sum;
}

// Rounding of the result: half a unit in the last place is 2^-24 or 2^-9 of an element; sums add a little.
inline double tolerance_of(at::ScalarType dtype) {
  if (dtype == at::kHalf) return 1e-3;
  return dtype == at::kFloat ? 2e-6 : 5e-3;
}

// Every step rounds to the tensor's dtype: a few times the error of one.
inline double tolerance_of_steps(at::ScalarType dtype) {
  return dtype == at::kFloat ? 4e-6 : 4 * tolerance_of(dtype);
}

}  // namespace shardlab::test
