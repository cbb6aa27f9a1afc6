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
  device.older_libraries = true;
  REQUIRE(device.fitted);
  REQUIRE(device.gemm.fp8);
  const double speed = device.fitted->of(FittedFigure::product_speed);
  const CostCoefficients costs = published_coefficients(device, {});
  CHECK(rate(costs.of(DType::bfloat16)) == Approx(speed * device.gemm.bfloat16->value));
  CHECK(costs.float8[0].rate.value == Approx(speed * device.gemm.fp8->value));
}

TEST_CASE(
    "Hopper's products and attention are faster with torch 2.11's libraries, none beyond what was measured") {
  for (const char* gpu : {"H100-SXM", "H200-SXM", "H20"}) {
    INFO(gpu);
    Device device = device_called(gpu);
    const CostCoefficients today = published_coefficients(device, {});
    device.older_libraries = true;
    const CostCoefficients older = published_coefficients(device, {});
    const HopperFigures& hopper = device.kernels.hopper;
    CHECK(rate(today.bfloat16) >= rate(older.bfloat16));
    CHECK(rate(today.bfloat16) <= std::max(rate(older.bfloat16), hopper.most * device.peaks.bfloat16->value));
    CHECK(today.bfloat16.attention[0].rate.value ==
          Approx(device.kernels.attention.cudnn * older.bfloat16.attention[0].rate.value));
    const CostCoefficients flash =
        published_coefficients(device_called(gpu), {.attention = AttentionKind::flash});
    CHECK(flash.bfloat16.attention[0].rate.value == older.bfloat16.attention[0].rate.value);
    CHECK(rate(today.float32) == rate(older.float32));
  }
  CHECK(rate(published_coefficients(device_called("A100-SXM-80GB"), {}).bfloat16) ==
        rate(published_coefficients(
                 [] {
                   Device device = device_called("A100-SXM-80GB");
                   device.older_libraries = true;
                   return device;
                 }(),
                 {})
                 .bfloat16));
}

TEST_CASE("rows that are no multiple of 16 bytes are slow on Hopper, whichever operand they are of") {
  const CostCoefficients costs = published_coefficients(device_called("H200-SXM"), {});
  const auto share = [&](MatmulUse use, std::int64_t m, std::int64_t n, std::int64_t k) {
    return alignment_share({m, n, k, {}}, costs.bfloat16.matmul[static_cast<std::size_t>(use)].alignment);
  };
  const double slow = device_called("H200-SXM").kernels.hopper.unaligned;
  CHECK(share(MatmulUse::forward, 8192, 50257, 1600) == slow);
  CHECK(share(MatmulUse::input_gradient, 8192, 1600, 50257) == slow);
  CHECK(share(MatmulUse::weight_gradient, 50257, 1600, 8192) == slow);
  // Tokens are no row of anything: an odd number of them does not matter.
  CHECK(share(MatmulUse::forward, 8191, 1600, 1600) == 1);
  CHECK(share(MatmulUse::weight_gradient, 1600, 1600, 8191) == 1);
  CHECK(alignment_share({8192, 50257, 1600, {}}, costs.float32.matmul[0].alignment) == 1);
}

TEST_CASE("attention that is handed a mask runs at the rate of the kernel that takes one") {
  const AttentionWork plain{Flops{1'000'000'000'000}, 4096, 128, 32};
  AttentionWork masked = plain;
  masked.masked = true;
  const auto share = [&](Device device, bool older) {
    device.older_libraries = older;
    const AttentionCoefficients costs = published_coefficients(device, {}).bfloat16.attention[0];
    return (attention_formula_ns(plain, costs) - costs.overhead_ns) /
           (attention_formula_ns(masked, costs) - costs.overhead_ns);
  };
  const AttentionFigures figures = device_called("H200-SXM").kernels.attention;
  CHECK(share(device_called("H200-SXM"), false) == Approx(figures.cudnn_masked));
  CHECK(share(device_called("H200-SXM"), true) == Approx(figures.efficient));
  CHECK(share(device_called("A100-SXM-80GB"), false) == Approx(figures.efficient));
}

// Rates of the data sheets: 156 of 312 TFLOP/s in TF32 on an A100, 494.5 of 989 on an H100; a V100 has
// none: 15.7 of 125.
TEST_CASE("attention in float32 multiplies in TF32 three times, where there is TF32") {
  const auto share = [](const std::string& gpu) {
    Device device = device_called(gpu);
    device.older_libraries = true;  // 16 bits by flash attention 2, also on Hopper
    const CostCoefficients costs = published_coefficients(device, {});
    return costs.float32.attention[1].rate.value / costs.float16.attention[1].rate.value /
           device.kernels.attention.efficient;
  };
  CHECK(share("A100-SXM-80GB") == Approx(0.5 / 3));
  CHECK(share("H100-SXM") == Approx(0.5 / 3).epsilon(0.01));
  CHECK(share("V100-SXM-32GB") == Approx(15.7 / 125).epsilon(0.01));

  const auto masked = [](DType dtype) {
    const CostCoefficients costs = published_coefficients(device_called("H100-SXM"), {});
    return (dtype == DType::float32 ? costs.float32 : costs.bfloat16).attention[0].masked;
  };
  CHECK(masked(DType::float32) == 1);
  CHECK(masked(DType::bfloat16) < 1);
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
