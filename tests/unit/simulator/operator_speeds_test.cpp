// Speeds of PyTorch's memory-bound operators: whose operators they are of, and where they stand in a cost.
#include "engine/hardware/kernel_figures.h"
#include "engine/model/operators/operator_type.h"
#include "simulator/cost/coefficients.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Device h100() {
  ClusterRequest request;
  request.gpu = "H100-SXM";
  request.gpus_per_node = 1;
  auto device = describe_device(request);
  REQUIRE_OK(device);
  return *std::move(device);
}

double share_of_copy(const CostCoefficients& coefficients, std::string_view operation, Direction direction,
                     DType dtype, bool compiled = false) {
  return coefficients.traffic_of_operator(operation, direction, dtype, compiled).bandwidth.value /
         coefficients.memory.bandwidth.value;
}

}  // namespace

TEST_CASE("every operator with a speed is one of the program's") {
  const auto figures = read_kernel_figures();
  REQUIRE_OK(figures);
  const OperatorSpeeds& speeds = figures->operators;
  for (const auto* by_name :
       {&speeds.forward, &speeds.backward, &speeds.forward_float32, &speeds.backward_float32}) {
    CHECK_FALSE(by_name->empty());
    for (const auto& [name, speed] : *by_name) {
      INFO(name);
      const OperatorType* const type = find_operator_type(name);
      REQUIRE(type != nullptr);
      CHECK(type->category == OperatorCategory::memory_bound);
      CHECK(speed > 0);
      CHECK(speed <= 1);
    }
  }
}

TEST_CASE("PyTorch's operators are as fast as they were measured, ours as a copy") {
  KernelChoice kernels;
  kernels.implementation = Implementation::eager;
  const Device device = h100();
  const CostCoefficients eager = published_coefficients(device, kernels);
  const double in_a_step = device.fitted->of(FittedFigure::memory_speed);
  const OperatorSpeeds& speeds = device.kernels.operators;
  CHECK(share_of_copy(eager, "eager_rope", Direction::forward, DType::bfloat16) ==
        Approx(speeds.forward.at("eager_rope") * in_a_step));
  CHECK(share_of_copy(eager, "eager_rope", Direction::forward, DType::float32) ==
        Approx(speeds.forward_float32.at("eager_rope") * in_a_step));
  CHECK(share_of_copy(eager, "add", Direction::forward, DType::float32) ==
        Approx(speeds.forward.at("add") * in_a_step));
  CHECK(share_of_copy(eager, "eager_capped_attention", Direction::backward, DType::bfloat16) ==
        Approx(speeds.others * in_a_step));
  CHECK(share_of_copy(eager, "layer_norm", Direction::forward, DType::bfloat16, true) == Approx(1));
  const CostCoefficients fused = published_coefficients(device, {});
  CHECK(share_of_copy(fused, "layer_norm", Direction::forward, DType::bfloat16) == Approx(1));
}

TEST_CASE("a calibration stands before the figures of all GPUs") {
  KernelChoice kernels;
  kernels.implementation = Implementation::eager;
  CostCoefficients eager = published_coefficients(h100(), kernels);
  eager.traffic["silu.forward.bfloat16"].bandwidth = {1e12};
  CHECK(eager.traffic_of_operator("silu", Direction::forward, DType::bfloat16).bandwidth.value == 1e12);
  CHECK(eager.traffic_of_operator("silu", Direction::backward, DType::bfloat16).bandwidth.value > 1e12);
}

}  // namespace shardlab
