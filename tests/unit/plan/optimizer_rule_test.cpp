#include "engine/plan/optimizer_rule.h"

#include <array>

#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::array<std::int64_t, 4> k_tensors{100, 300, 200, 250};

TrainSpec of(const char* optimizer, const char* implementation, double weight_decay = 0.1) {
  TrainSpec train;
  train.optimizer = optimizer;
  train.optimizer_implementation = implementation;
  train.weight_decay = weight_decay;
  return train;
}

TEST_CASE("fused optimizers hold nothing besides their states") {
  for (const char* optimizer : {"adamw", "adam", "sgd"})
    CHECK(optimizer_temporaries(of(optimizer, "fused"), k_tensors) == 0);
  CHECK(optimizer_rule(of("adam", "fused")).states == std::vector<std::string_view>{"exp_avg", "exp_avg_sq"});
  CHECK(optimizer_rule(of("sgd", "fused")).states.empty());
  TrainSpec momentum = of("sgd", "fused");
  momentum.momentum = 0.9;
  CHECK(optimizer_rule(momentum).states == std::vector<std::string_view>{"momentum"});
}

TEST_CASE("a loop holds the last parameter's denominator while it makes the next one's") {
  CHECK(optimizer_temporaries(of("adamw", "loop"), k_tensors) == 100 + 2 * 300);
  CHECK(optimizer_temporaries(of("adam", "loop"), k_tensors) == 100 + 3 * 300);
  CHECK(optimizer_temporaries(of("adam", "loop", 0), k_tensors) == 100 + 2 * 300);
  CHECK(optimizer_temporaries(of("sgd", "loop"), k_tensors) == 300);
  CHECK(optimizer_temporaries(of("sgd", "loop", 0), k_tensors) == 0);
}

TEST_CASE("foreach holds a tensor of every parameter") {
  for (const char* optimizer : {"adamw", "adam", "sgd"})
    CHECK(optimizer_temporaries(of(optimizer, "foreach"), k_tensors) == 850);
  CHECK(optimizer_temporaries(of("sgd", "foreach", 0), k_tensors) == 0);
}

}  // namespace
}  // namespace shardlab
