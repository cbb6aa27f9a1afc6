// The arithmetic of an optimizer's step over lists of tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace shardlab {

struct TrainSpec;  // engine/scenario/train_spec.h

// Flat tensors of one dtype, element by element of the same parameters: by tensor.
struct OptimizerTensors {
  std::vector<at::Tensor> parameters, gradients;
  std::vector<std::vector<at::Tensor>> states;  // in the order of optimizer_rule(train).states
};

struct OptimizerMoment {
  double learning_rate = 0;
  std::int64_t step = 1;   // steps this optimizer has made, with this one
  at::Tensor temporaries;  // flat, as many elements as optimizer_temporaries() says; undefined when none
};

// One step of train.optimizer as train.optimizer_implementation of torch 2.11 computes it. Momentum begins as
// a copy of the gradient of step 1.
void step_optimizer(const TrainSpec& train, const OptimizerTensors& tensors, const OptimizerMoment& moment);

}  // namespace shardlab
