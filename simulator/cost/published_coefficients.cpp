#include <algorithm>
#include <array>

#include "engine/scenario/choose_implementation.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "simulator/cost/coefficients.h"

namespace shardlab {
namespace {

// Where nobody states a rate for a dtype, another one, then a token one: a prediction must not divide by
// zero. A GPU without bfloat16 units computes it as float32; a processor's float16 is as fast as its
// bfloat16.
FlopsPerSecond rate_of(const DevicePeaks& rates, DType dtype) {
  const auto& other = dtype == DType::float16 ? rates.bfloat16 : rates.float32;
  for (const auto& rate : {rates.of(dtype), other, rates.float32, rates.bfloat16, rates.float16}) {
    if (rate && rate->value > 0) return *rate;
  }
  return {1e9};
}

FlopsPerSecond operator*(FlopsPerSecond rate, double factor) {
  return {rate.value * factor};
}

bool is_half(DType dtype) {
  return dtype == DType::bfloat16 || dtype == DType::float16;
}

// Whether torch 2.11's own libraries run on Hopper, which was measured.
bool of_today_on_hopper(const Device& device) {
  return device.cuda_capability == 90 && !device.older_libraries;
}

// How fast the kernel is, in units of flash attention 2.
double attention_speed(const Device& device, AttentionKind kind) {
  if (kind == AttentionKind::automatic && of_today_on_hopper(device)) return device.kernels.attention.cudnn;
  if (kind == AttentionKind::flash3) return device.kernels.attention.flash3;
  if (kind == AttentionKind::efficient) return device.kernels.attention.efficient;
  if (kind == AttentionKind::triton && device.fitted)
    return device.fitted->of(FittedFigure::triton_attention);
  return 1;
}

// No kernel of flash attention takes float32: torch takes its memory-efficient one, which multiplies each
// number as three of TF32 where there are units for that (torch 2.11, mem_eff_attention/gemm_kernel_utils.h,
// OpMultiplyAddFastF32 from capability 8.0 on).
FlopsPerSecond float32_attention_rate(const Device& device) {
  constexpr int k_first_with_tf32 = 80, k_products_of_one = 3;
  const bool in_tf32 = device.cuda_capability >= k_first_with_tf32 && device.attention.tf32;
  const FlopsPerSecond rate = in_tf32 ? *device.attention.tf32 * (1.0 / k_products_of_one)
                                      : rate_of(device.attention, DType::float32);
  return rate * device.kernels.attention.efficient;
}

FlopsPerSecond attention_rate(const Device& device, AttentionKind kind, DType dtype) {
  if (device.kind != DeviceKind::cpu && dtype == DType::float32) return float32_attention_rate(device);
  return rate_of(device.attention, dtype) * attention_speed(device, kind);
}

// The share of that rate that is left with a mask: by the kernel that torch takes for it. In float32 one
// kernel takes both.
double masked_share(const Device& device, DType dtype) {
  const AttentionFigures& figures = device.kernels.attention;
  if (dtype == DType::float32) return 1;
  return of_today_on_hopper(device) ? figures.cudnn_masked : figures.efficient;
}

// Rates of forward (two products) and backward (five) that together are `rate`, the first as many times the
// second as the kernels' figures say.
std::array<FlopsPerSecond, 2> by_direction(FlopsPerSecond rate, const AttentionFigures& figures) {
  const FlopsPerSecond backward = rate * ((2 / figures.forward + 5) / 7);
  return {backward * figures.forward, backward};
}

// The speed of products in a step, in units of the same products alone; whatever their dtype.
double product_speed(const Device& device) {
  return device.fitted ? device.fitted->of(FittedFigure::product_speed) : 1;
}

FlopsPerSecond product_rate(const Device& device, DType dtype) {
  const FlopsPerSecond published = rate_of(device.gemm, dtype) * product_speed(device);
  const auto peak = device.peak(dtype);
  if (!of_today_on_hopper(device) || !peak || !is_half(dtype)) return published;
  const HopperFigures& hopper = device.kernels.hopper;
  return {std::max(published.value, std::min(published.value * hopper.products, peak->value * hopper.most))};
}

AlignmentCoefficients alignment_of(const Device& device, MatmulUse use, DType dtype) {
  const bool matters = of_today_on_hopper(device) && is_half(dtype);
  return {matters ? device.kernels.hopper.unaligned : 1, use != MatmulUse::weight_gradient};
}

DtypeCoefficients compute_of(const Device& device, AttentionKind kind, DType dtype, BytesPerSecond bandwidth,
                             double overhead_ns) {
  DtypeCoefficients coefficients;
  for (std::size_t use = 0; use < k_matmul_uses; ++use)
    coefficients.matmul[use] = {product_rate(device, dtype),
                                device.gemm_k_half,
                                bandwidth,
                                overhead_ns,
                                {},
                                {device.multiprocessors, device.kernels.tiles},
                                alignment_of(device, static_cast<MatmulUse>(use), dtype)};
  const auto rates = by_direction(attention_rate(device, kind, dtype), device.kernels.attention);
  for (std::size_t direction = 0; direction < rates.size(); ++direction) {
    coefficients.attention[direction] = {rates[direction],
                                         device.attention_sequence_half,
                                         overhead_ns,
                                         {},
                                         device.kernels.attention.narrow,
                                         masked_share(device, dtype)};
  }
  return coefficients;
}

// PyTorch's operators in a step: as fast, relative to a copy, as they are alone, times what a step makes of
// it.
void set_operators(const Device& device, CostCoefficients& coefficients) {
  const OperatorSpeeds& speeds = device.kernels.operators;
  const double in_a_step = device.fitted->of(FittedFigure::memory_speed);
  const auto at_speed = [&](double speed) {
    TrafficCoefficients changed = coefficients.memory;
    changed.bandwidth.value *= speed * in_a_step;
    return changed;
  };
  const auto put = [&](const OperatorSpeeds::ByName& by_name, Direction direction, bool wide) {
    for (const auto& [name, speed] : by_name) {
      const auto [row, added] = coefficients.named_operators.try_emplace(name);
      if (added) row->second.fill({at_speed(speeds.others), at_speed(speeds.others)});
      CostCoefficients::BySize& sizes = row->second[static_cast<std::size_t>(direction)];
      if (wide)
        sizes[1] = at_speed(speed);
      else
        sizes.fill(at_speed(speed));
    }
  };
  put(speeds.forward, Direction::forward, false);
  put(speeds.backward, Direction::backward, false);
  put(speeds.forward_float32, Direction::forward, true);
  put(speeds.backward_float32, Direction::backward, true);
  coefficients.operators = at_speed(speeds.others);
}

}  // namespace

KernelChoice kernel_choice(const Scenario& scenario) {
  return {scenario.model->attention, choose_implementation(scenario), choose_host(scenario),
          facts_of(scenario).reduces_in_cpp};
}

CostCoefficients published_coefficients(const Device& device, const KernelChoice& kernels) {
  const bool cpu = device.kind == DeviceKind::cpu;
  const double overhead_ns = (cpu ? device.kernel_launch_seconds : device.kernel_gap_seconds) * 1e9;
  const BytesPerSecond bandwidth{std::max(device.memory_bandwidth.value * device.memory_efficiency, 1.0)};
  CostCoefficients coefficients;
  coefficients.counts_pieces = cpu;
  coefficients.float32 = compute_of(device, kernels.attention, DType::float32, bandwidth, overhead_ns);
  coefficients.bfloat16 = compute_of(device, kernels.attention, DType::bfloat16, bandwidth, overhead_ns);
  coefficients.float16 = compute_of(device, kernels.attention, DType::float16, bandwidth, overhead_ns);
  coefficients.float8 = coefficients.bfloat16.matmul;
  if (device.gemm.fp8)
    for (MatmulCoefficients& products : coefficients.float8)
      products.rate = *device.gemm.fp8 * product_speed(device);
  coefficients.memory = {bandwidth, overhead_ns, {}};
  coefficients.operators = coefficients.memory;
  if (device.fitted && kernels.implementation == Implementation::eager) set_operators(device, coefficients);
  coefficients.host = published_host(device, kernels.host, kernels.reduces_in_cpp);
  coefficients.contention = published_contention(device);
  coefficients.host_link = published_host_link(device);
  coefficients.drive = published_drive(device);
  coefficients.host_work = published_host_work(device);
  return coefficients;
}

CostCoefficients prediction_coefficients(const Scenario& scenario, const Device& device,
                                         const Calibration* calibration) {
  CostCoefficients coefficients = published_coefficients(device, kernel_choice(scenario));
  if (calibration == nullptr) return coefficients;
  const HostCoefficients published = coefficients.host;
  apply_calibration(*calibration, coefficients);
  // What a calibration timed was our executor.
  if (choose_host(scenario) == HostProgram::python) coefficients.host = published;
  return coefficients;
}

const TrafficCoefficients& CostCoefficients::traffic_of(std::string_view name) const {
  const auto found = traffic.find(name);
  return found == traffic.end() ? memory : found->second;
}

const TrafficCoefficients& CostCoefficients::traffic_of_operator(std::string_view operation,
                                                                 Direction direction, DType dtype,
                                                                 bool compiled) const {
  if (!traffic.empty()) {
    const auto found = traffic.find(traffic_name(operation, direction, dtype));
    if (found != traffic.end()) return found->second;
  }
  if (compiled) return memory;
  const auto named = named_operators.find(operation);
  if (named == named_operators.end()) return operators;
  return named->second[static_cast<std::size_t>(direction)][dtype == DType::float32 ? 1 : 0];
}

std::string traffic_name(std::string_view operation, Direction direction, DType dtype) {
  std::string name(operation);
  name += direction == Direction::forward ? ".forward." : ".backward.";
  return name += to_string(dtype);
}

}  // namespace shardlab
