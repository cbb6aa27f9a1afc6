// Which rate the products of a dtype run at, also where a GPU lacks the dtype.
#include "simulator/cost/coefficients.h"

#include "simulator/cost/program_cost.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

Device device_called(const std::string& gpu) {
  ClusterRequest request;
  request.gpu = gpu;
  request.gpus_per_node = 8;
  const auto device = describe_device(request);
  REQUIRE_OK(device);
  return *device;
}

double rate(const DtypeCoefficients& coefficients) {
  return coefficients.matmul[0].rate.value;
}

}  // namespace

TEST_CASE("float16 products run at the float16 rate, emulated bfloat16 at that of float32") {
  for (const char* gpu : {"V100-SXM-16GB", "T4"}) {
    INFO(gpu);
    Device device = device_called(gpu);
    device.fitted.reset();
    device.kernels.attention.forward = 1;
    const CostCoefficients costs = published_coefficients(device, {});
    CHECK(rate(costs.of(DType::float16)) == device.gemm.float16->value);
    CHECK(rate(costs.of(DType::float16)) > 7 * rate(costs.of(DType::float32)));
    CHECK(rate(costs.of(DType::bfloat16)) == rate(costs.of(DType::float32)));
    CHECK(costs.of(DType::float16).attention[0].rate.value == device.attention.float16->value);
  }
}

TEST_CASE("products are slower in a step than alone, whatever their dtype") {
  Device device = device_called("H100-SXM");
  REQUIRE(device.fitted);
  REQUIRE(device.gemm.fp8);
  const double speed = device.fitted->of(FittedFigure::product_speed);
  const CostCoefficients costs = published_coefficients(device, {});
  CHECK(rate(costs.of(DType::bfloat16)) == Approx(speed * device.gemm.bfloat16->value));
  CHECK(costs.float8[0].rate.value == Approx(speed * device.gemm.fp8->value));
}

TEST_CASE("a segment that computes in float16 takes the time of float16") {
  const auto forward_ns = [](const std::string& param) {
    const PlannedScenario planned = test::small_scenario(
        "parallel: {strategy: fsdp2}\nprecision: {param: " + param + ", reduce: float32}", "clip_norm: 1.0",
        "{gpu: T4, gpus_per_node: 2}");
    const Device device = test::device_of(planned);
    const CostCoefficients costs = published_coefficients(device, {});
    const Segment& layer = planned.partition.segments[2];
    double sum = 0;
    for (const StepCost& step :
         program_costs(planned.graph, layer.programs.forward, Direction::forward, costs))
      sum += step.nanoseconds - costs.memory.overhead_ns * static_cast<double>(step.kernels);
    return sum;
  };
  CHECK(forward_ns("float16") < 0.7 * forward_ns("bfloat16"));
}

}  // namespace shardlab
