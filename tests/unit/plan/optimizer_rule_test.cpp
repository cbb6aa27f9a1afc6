#include "engine/plan/optimizer_rule.h"

#include <array>

#include "engine/scenario/train_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using How = OptimizerImplementation;
using O = Optimizer;

constexpr std::array<std::int64_t, 4> k_tensors{100, 300, 200, 250};

TrainSpec of(Optimizer optimizer, How implementation, double weight_decay = 0.1) {
  TrainSpec train;
  train.optimizer = optimizer;
  train.optimizer_implementation = implementation;
  train.weight_decay = weight_decay;
  return train;
}

TEST_CASE("fused optimizers hold nothing besides their states") {
  for (const Optimizer optimizer : {O::adamw, O::adam, O::sgd})
    CHECK(optimizer_temporaries(of(optimizer, How::fused), k_tensors) == 0);
  CHECK(optimizer_rule(of(O::adam, How::fused)).states ==
        std::vector<BufferRole>{BufferRole::exp_avg, BufferRole::exp_avg_sq});
  CHECK(optimizer_rule(of(O::sgd, How::fused)).states.empty());
  TrainSpec momentum = of(O::sgd, How::fused);
  momentum.momentum = 0.9;
  CHECK(optimizer_rule(momentum).states == std::vector<BufferRole>{BufferRole::momentum});
}

TEST_CASE("states in eight bits have a scale for each block, and one kernel updates them in place") {
  for (const How how : {How::fused, How::foreach, How::loop}) {
    const TrainSpec train = of(O::adamw_8bit, how);
    CHECK(optimizer_temporaries(train, k_tensors) == 0);
    CHECK(optimizer_rule(train).state_dtype == DType::uint8);
    CHECK(optimizer_rule(train).state_block == 256);
    CHECK(optimizer_rule(train).kernels == 1);
  }
}

TEST_CASE("paged states of AdamW are float32 and updated in place, whatever torch would do") {
  for (const How how : {How::fused, How::foreach, How::loop}) {
    TrainSpec train = of(O::adamw, how);
    train.optimizer_paged = true;
    CHECK(optimizer_temporaries(train, k_tensors) == 0);
    CHECK(optimizer_rule(train).state_dtype == DType::float32);
    CHECK(optimizer_rule(train).state_block == 0);
    CHECK(optimizer_rule(train).paged);
    train.optimizer = O::adamw_8bit;
    CHECK(optimizer_rule(train).state_dtype == DType::uint8);
    CHECK(optimizer_rule(train).paged);
  }
}

TEST_CASE("a loop holds the last parameter's denominator while it makes the next one's") {
  CHECK(optimizer_temporaries(of(O::adamw, How::loop), k_tensors) == 100 + 2 * 300);
  CHECK(optimizer_temporaries(of(O::adam, How::loop), k_tensors) == 100 + 3 * 300);
  CHECK(optimizer_temporaries(of(O::adam, How::loop, 0), k_tensors) == 100 + 2 * 300);
  CHECK(optimizer_temporaries(of(O::sgd, How::loop), k_tensors) == 300);
  CHECK(optimizer_temporaries(of(O::sgd, How::loop, 0), k_tensors) == 0);
}

TEST_CASE("foreach holds a tensor of every parameter") {
  for (const Optimizer optimizer : {O::adamw, O::adam, O::sgd})
    CHECK(optimizer_temporaries(of(optimizer, How::foreach), k_tensors) == 850);
  CHECK(optimizer_temporaries(of(O::sgd, How::foreach, 0), k_tensors) == 0);
}

}  // namespace
}  // namespace shardlab
