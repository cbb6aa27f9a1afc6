// Fits recover the coefficients that noisy times were made from.
#include <cmath>
#include <random>

#include "simulator/calibrate/fit_calibration.h"
#include "simulator/calibrate/least_squares.h"
#include "simulator/cost/cost_model.h"
#include "simulator/cost/probe_names.h"
#include "tests/catch.h"
#include "tests/unit/simulator/small_scenario.h"

namespace shardlab {
namespace {

// Nine repeats around `time`, a few percent of noise, one of them disturbed by something else on the machine.
std::vector<std::int64_t> noisy(double time, std::mt19937_64& random) {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 9; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;  // the same on every platform
    samples.push_back(std::llround(time * (0.98 + 0.04 * unit) * (i == 4 ? 3 : 1)));
  }
  return samples;
}

double coefficient(const Calibration& calibration, const std::string& name) {
  const auto found = calibration.coefficients.find(name);
  REQUIRE(found != calibration.coefficients.end());
  return found->second.value;
}

TEST_CASE("least squares: exact data, exact coefficients; negative ones become zero") {
  std::vector<FitRow> rows;
  for (const double x : {1.0, 10.0, 100.0, 1000.0}) rows.push_back({{1, x, x * x}, 5 + 2 * x + 0.01 * x * x});
  const auto c = fit_times(rows, 3);
  CHECK(c[0] == Approx(5));
  CHECK(c[1] == Approx(2));
  CHECK(c[2] == Approx(0.01));
  for (FitRow& row : rows) row.time = std::max(3 * row.terms[1] - 0.5, 0.1);
  CHECK(fit_times(rows, 2)[0] == 0);
  CHECK(fit_times({}, 2) == std::array<double, 3>{});
}

TEST_CASE("least squares: one row far off does not bend the fit") {
  std::vector<FitRow> rows;
  for (int i = 1; i <= 12; ++i) rows.push_back({{1, static_cast<double>(i), 0}, 10.0 + i});
  rows[6].time *= 5;
  const auto c = fit_times(rows, 2);
  CHECK(c[0] == Approx(10).epsilon(0.05));
  CHECK(c[1] == Approx(1).epsilon(0.05));
}

TEST_CASE("what was measured at one size alone costs by its size") {
  const ProbeShape traffic{{"bytes", 1 << 20}, {"pieces", 1}},
      attention{{"batch", 1}, {"sequence", 512}, {"heads", 4}, {"kv_heads", 4}, {"head_dim", 64}};
  const std::vector<ProbeMeasurement> measurements{{"gelu.forward.float32", traffic, {2000, 2000, 2000}},
                                                   {"attention.forward.float32", attention, {5000}}};
  const Calibration fitted = fit_calibration(measurements, {});
  CHECK(coefficient(fitted, "gelu.forward.float32.overhead") == 0);
  CHECK(coefficient(fitted, "gelu.forward.float32.bandwidth") == Approx((1 << 20) / 2e-6));
  CHECK(coefficient(fitted, "attention.forward.float32.overhead") == 0);
  CHECK(coefficient(fitted, "attention.forward.float32.rate") ==
        Approx(static_cast<double>(attention_work(attention, Direction::forward).flops.value) / 5e-6));
  for (const ProbeResult& probe : fitted.probes) CHECK(probe.error() == Approx(0).margin(1e-9));
}

TEST_CASE("a fit recovers the coefficients of matmul, attention, traffic and collectives") {
  std::mt19937_64 random(7);
  std::vector<ProbeMeasurement> measurements;
  MatmulCoefficients matmul;
  matmul.rate = {80e9};
  matmul.k_half = 40;
  matmul.bandwidth = {1e15};
  matmul.overhead_ns = 3000;
  for (const std::int64_t m : {128, 512, 2048}) {
    for (const std::int64_t k : {32, 64, 256, 1024}) {
      const ProbeShape shape{{"m", m}, {"n", 256}, {"k", k}};
      measurements.push_back({"matmul.forward.float32", shape,
                              noisy(matmul_formula_ns(matmul_shape(shape, DType::float32), matmul), random)});
    }
  }
  AttentionCoefficients attention;
  attention.rate = {20e9};
  attention.sequence_half = 90;
  attention.overhead_ns = 4000;
  const TrafficCoefficients pack{{5e9}, 800, {}};
  const CollectiveTerms gather{200'000, {1.5e9}, 40, {}};
  for (const std::int64_t s : {32, 64, 128, 512, 1024}) {
    const ProbeShape shape{{"batch", 2}, {"sequence", s}, {"heads", 8}, {"kv_heads", 4}, {"head_dim", 32}};
    measurements.push_back(
        {"attention.backward.bfloat16", shape,
         noisy(attention_formula_ns(attention_work(shape, Direction::backward), attention), random)});
    const ProbeShape traffic{{"bytes", s * 400}, {"pieces", 1 + s / 100}};
    measurements.push_back(
        {"pack", traffic, noisy(traffic_formula_ns(traffic_of_shape(traffic), pack), random)});
    const ProbeShape full{{"bytes", s * s * 64}, {"ranks", 2}};
    measurements.push_back(
        {"all_gather", full,
         noisy(collective_formula_ns(collective_work(InstructionKind::AllGather, full), gather), random)});
  }
  const Calibration fitted = fit_calibration(measurements, {});
  CHECK(coefficient(fitted, "matmul.forward.float32.rate") == Approx(80e9).epsilon(0.03));
  CHECK(coefficient(fitted, "matmul.forward.float32.k_half") == Approx(40).epsilon(0.15));
  CHECK(coefficient(fitted, "attention.backward.bfloat16.rate") == Approx(20e9).epsilon(0.04));
  CHECK(coefficient(fitted, "attention.backward.bfloat16.sequence_half") == Approx(90).epsilon(0.15));
  CHECK(coefficient(fitted, "pack.bandwidth") == Approx(5e9).epsilon(0.04));
  CHECK(coefficient(fitted, "pack.overhead") == Approx(800).epsilon(0.25));
  CHECK(coefficient(fitted, "all_gather.latency") == Approx(200'000).epsilon(0.1));
  CHECK(coefficient(fitted, "all_gather.bandwidth") == Approx(1.5e9).epsilon(0.15));
  CHECK(fitted.id == calibration_id(fitted));
  for (const ProbeResult& probe : fitted.probes) {
    INFO(probe.probe);
    CHECK(std::abs(probe.error()) < 0.08);
    CHECK(probe.samples.size() == 9);
  }
}

TEST_CASE("contention: fractions of the speed alone") {
  // Products 100 alone, 160 beside collectives: 62.5 %. Collectives 300 alone; 160 + 220 together: in the 160
  // they did 300 - 220 = 80, half of what they would have done alone.
  const ProbeShape shape{{"bytes", 1024}, {"collectives", 10}};
  const std::vector<ProbeMeasurement> measurements{{"contention.compute_alone", shape, {100'000}},
                                                   {"contention.collectives_alone", shape, {300'000}},
                                                   {"contention.compute_beside", shape, {160'000}},
                                                   {"contention.both", shape, {380'000}}};
  const Calibration fitted = fit_calibration(measurements, {});
  CHECK(coefficient(fitted, "contention.compute_beside_collective") == Approx(0.625));
  CHECK(coefficient(fitted, "contention.collective_beside_compute") == Approx(0.5));
}

TEST_CASE("samples of several ranks are put together, empty ones dropped") {
  const ProbeShape shape{{"bytes", 100}, {"pieces", 1}};
  const std::vector<ProbeMeasurement> measurements{
      {"cast", shape, {10, 30}}, {"cast", shape, {20}}, {"copy", shape, {}}};
  const Calibration fitted = fit_calibration(measurements, {});
  REQUIRE(fitted.probes.size() == 1);
  CHECK(fitted.probes[0].measured_ns == 20);
  CHECK(fitted.probes[0].samples == std::vector<std::int64_t>{10, 30, 20});
}

TEST_CASE("a calibrated cost model gives back what was measured") {
  const PlannedScenario planned = test::small_scenario("parallel: {strategy: fsdp2}");
  const Device device = test::device_of(planned);
  const CostModel uncalibrated(planned, device, nullptr);
  const StepPlan& plan = planned.plan.steady;
  std::vector<ProbeMeasurement> measurements;
  for (const Instruction& instruction : plan.instructions) {
    const auto traffic = uncalibrated.traffic(plan, instruction);
    if (!traffic) continue;
    const ProbeShape shape{{"bytes", traffic->traffic.bytes.value}, {"pieces", traffic->traffic.pieces}};
    measurements.push_back({std::string(traffic->name), shape, {1000 + traffic->traffic.bytes.value / 3}});
    if (instruction.kind == InstructionKind::AllGather) continue;
  }
  measurements.push_back({"all_gather", {{"bytes", 1 << 20}, {"ranks", 2}}, {700'000}});
  measurements.push_back({"host.instruction", {}, {5'000}});
  const Calibration fitted = fit_calibration(measurements, {});
  CostModel costs(planned, device, &fitted);
  for (const Instruction& instruction : plan.instructions) {
    const auto traffic = costs.traffic(plan, instruction);
    if (!traffic) continue;
    INFO(traffic->name);
    CHECK(costs.cost(plan, instruction).duration.value ==
          Approx(1000 + traffic->traffic.bytes.value / 3).margin(2));
    CHECK(costs.cost(plan, instruction).issue == Nanoseconds{5'000});
  }
  CHECK(costs.coefficients().collectives.count(InstructionKind::AllGather) == 1);
}

}  // namespace
}  // namespace shardlab
