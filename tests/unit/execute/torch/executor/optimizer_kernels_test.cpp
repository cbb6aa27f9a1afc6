// Three steps of every optimizer against its formula in double precision.
#include "engine/execute/torch/instructions/optimizer_kernels.h"

#include <ATen/ATen.h>

#include <cmath>

#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using How = OptimizerImplementation;

struct Numbers {
  double parameter = 0, first = 0, second = 0;  // first: moment or momentum
};

void expected_step(const TrainSpec& t, Numbers& x, double gradient, int step, double rate) {
  if (t.optimizer == Optimizer::adamw) {
    x.parameter *= 1 - rate * t.weight_decay;
  } else {
    gradient += t.weight_decay * x.parameter;
  }
  if (t.optimizer == Optimizer::sgd) {
    x.first = step == 1 ? gradient : t.momentum * x.first + gradient;
    x.parameter -= rate * (t.momentum != 0 ? x.first : gradient);
    return;
  }
  x.first = t.betas[0] * x.first + (1 - t.betas[0]) * gradient;
  x.second = t.betas[1] * x.second + (1 - t.betas[1]) * gradient * gradient;
  const double average = x.first / (1 - std::pow(t.betas[0], step));
  const double square = x.second / (1 - std::pow(t.betas[1], step));
  x.parameter -= rate * average / (std::sqrt(square) + t.epsilon);
}

double value_at(int tensor, int element, int step) {
  return std::sin(1.0 + tensor * 7 + element + step * 0.3);
}

void check_optimizer(const TrainSpec& train, at::ScalarType dtype = at::kFloat, double tolerance = 2e-6) {
  const std::vector<std::int64_t> sizes{3, 70, 33};
  OptimizerTensors tensors;
  tensors.states.resize(optimizer_rule(train).states.size());
  std::vector<std::vector<Numbers>> expected;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    tensors.parameters.push_back(at::empty({sizes[i]}, dtype));
    tensors.gradients.push_back(at::empty({sizes[i]}, dtype));
    for (auto& state : tensors.states) state.push_back(at::zeros({sizes[i]}, dtype));
    for (int e = 0; e < sizes[i]; ++e) {
      tensors.parameters[i][e] = value_at(static_cast<int>(i), e, 0);
      if (e == 0) expected.emplace_back();
      expected[i].push_back({value_at(static_cast<int>(i), e, 0), 0, 0});
    }
  }
  const std::int64_t temporaries = optimizer_temporaries(train, sizes);
  for (int step = 1; step <= 3; ++step) {
    const double rate = 0.1 / step;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (int e = 0; e < sizes[i]; ++e) {
        const double gradient = value_at(static_cast<int>(i), e, step);
        tensors.gradients[i][e] = gradient;
        expected_step(train, expected[i][static_cast<std::size_t>(e)], gradient, step, rate);
      }
    }
    const at::Tensor space = temporaries > 0 ? at::full({temporaries}, std::nan(""), dtype) : at::Tensor();
    step_optimizer(train, tensors, {rate, step, space});
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (int e = 0; e < sizes[i]; ++e) {
      INFO(to_string(train.optimizer)
           << " " << to_string(train.optimizer_implementation) << ", tensor " << i << " element " << e);
      CHECK(tensors.parameters[i][e].item<double>() ==
            Approx(expected[i][static_cast<std::size_t>(e)].parameter).margin(tolerance));
    }
  }
}

TEST_CASE("optimizers follow their formulas") {
  for (const How implementation : {How::fused, How::foreach, How::loop}) {
    for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::adam, Optimizer::sgd}) {
      for (const double weight_decay : {0.0, 0.1}) {
        for (const double momentum : {0.0, 0.9}) {
          TrainSpec train;
          train.optimizer = optimizer;
          train.optimizer_implementation = implementation;
          train.weight_decay = weight_decay;
          train.momentum = momentum;
          if (momentum == 0 || train.optimizer == Optimizer::sgd) check_optimizer(train);
        }
      }
    }
  }
}

// Epsilon is zero in float16, and second moments are small: Adam is for bfloat16 only.
TEST_CASE("optimizers of 16-bit parameters follow their formulas") {
  for (const How implementation : {How::fused, How::foreach, How::loop}) {
    for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::sgd}) {
      for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
        for (const double momentum : {0.0, 0.9}) {
          TrainSpec train;
          train.optimizer = optimizer;
          train.optimizer_implementation = implementation;
          train.weight_decay = 0.1;
          train.momentum = momentum;
          if (train.optimizer == Optimizer::sgd || (momentum == 0 && dtype == at::kBFloat16))
            check_optimizer(train, dtype, dtype == at::kHalf ? 2e-3 : 2e-2);
        }
      }
    }
  }
}

TEST_CASE("one tensor alone has room for its temporaries") {
  for (const How implementation : {How::foreach, How::loop}) {
    TrainSpec train;
    train.optimizer = Optimizer::adam;
    train.weight_decay = 0.1;
    train.optimizer_implementation = implementation;
    const std::vector<std::int64_t> sizes{5};
    OptimizerTensors tensors{{at::ones({5})}, {at::ones({5})}, {{at::zeros({5})}, {at::zeros({5})}}};
    CHECK_NOTHROW(step_optimizer(train, tensors, {0.1, 1, at::empty({optimizer_temporaries(train, sizes)})}));
    CHECK(tensors.parameters[0][0].item<double>() == Approx(0.9));
  }
}

}  // namespace
}  // namespace shardlab
