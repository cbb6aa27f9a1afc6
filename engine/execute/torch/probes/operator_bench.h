// One operator with everything it reads and writes, several times over. Private to this folder.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/probes/probe_session.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

class OperatorBench {
 public:
  // Sets of tensors are made until they fill about 16 MiB, 8 at most: consecutive calls then find their
  // operands about as far away as in a training step, where other operators ran in between.
  explicit OperatorBench(const ModelGraph& graph, const ExecutionBackend* backend = nullptr);

  void forward(int repeat) const;
  // The gradients it is to compute; the others are not wanted.
  void backward(int repeat, bool of_inputs, bool of_parameters) const;

  const OperatorDescription& description() const { return description_; }

 private:
  struct Set {
    std::vector<at::Tensor> inputs, parameters, outputs, extras, output_gradients, input_gradients;
    std::vector<ParameterGradient> parameter_gradients;
  };
  Set make_set() const;
  at::Tensor filled(const Tensor& tensor) const;
  const Set& set(int repeat) const { return sets_[static_cast<std::size_t>(repeat) % sets_.size()]; }

  at::Tensor like(const Shape& shape, DType dtype) const;
  at::Tensor random(const Shape& shape, DType dtype) const;

  const ModelGraph& graph_;
  const Operator& op_;
  const c10::Device device_;
  OperatorDescription description_;
  const OperatorImplementation& implementation_;
  std::vector<Set> sets_;
};

}  // namespace shardlab
