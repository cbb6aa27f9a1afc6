// Settings that the optimizer's arithmetic alone obeys: the lines of effect `libtorch` in
// tests/data/plans/every_key.txt change what two steps make of parameters.
#include <ATen/ATen.h>

#include "engine/execute/torch/instructions/optimizer_kernels.h"
#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/plans/key_cases.h"

namespace shardlab::test {
namespace {

TrainSpec train_of(const std::vector<std::string>& settings) {
  const auto scenario = parse_scenario(
      "{name: x, model: {config: small_llama.json, sequence_length: 16}, cluster: {device: cpu, ranks: 1}}",
      data_file("plans/small_llama.yaml").string(), settings);
  REQUIRE_OK(scenario);
  return *scenario->train;
}

at::Tensor after_two_steps(const TrainSpec& train) {
  OptimizerTensors tensors;
  tensors.parameters.push_back(at::linspace(-1, 1, 8));
  tensors.gradients.push_back(at::linspace(2, -3, 8));
  for (std::size_t i = 0; i < optimizer_rule(train).states.size(); ++i)
    tensors.states.push_back({at::zeros({8})});
  for (int step = 1; step <= 2; ++step) {
    step_optimizer(train, tensors,
                   {0.1, step, at::empty({optimizer_temporaries(train, std::vector<std::int64_t>{8})})});
    tensors.gradients.front().mul_(-0.5);
  }
  return tensors.parameters.front();
}

}  // namespace

TEST_CASE("settings of the optimizer's arithmetic change it") {
  int lines = 0;
  for (const KeyCase& line : key_cases()) {
    if (line.effect != "libtorch") continue;
    INFO(line.key << " by " << line.changed.back());
    CHECK_FALSE(after_two_steps(train_of(line.settings)).equal(after_two_steps(train_of(line.changed))));
    ++lines;
  }
  CHECK(lines > 0);
}

}  // namespace shardlab::test
