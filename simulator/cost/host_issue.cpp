#include "simulator/cost/host_issue.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {
namespace {

double fixed_ns(InstructionKind kind, const HostCoefficients& coefficients) {
  return is_collective(kind) ? coefficients.collective_ns : coefficients.instruction_ns;
}

double launch_ns(InstructionKind kind, const HostCoefficients& coefficients) {
  switch (kind) {
    case InstructionKind::Backward: return coefficients.backward_launch_ns;
    case InstructionKind::Pack: return coefficients.reduction_launch_ns;
    default: return coefficients.launch_ns;
  }
}

}  // namespace

HostCoefficients published_host(const Device& device, HostProgram host, bool reduces_in_cpp) {
  const double instruction_ns = device.instruction_seconds * 1e9;
  if (device.kind == DeviceKind::cpu) return {instruction_ns, instruction_ns, 0, 0, 0};
  const double launch_ns = device.kernel_launch_seconds * 1e9;
  if (host == HostProgram::shardlab || !device.fitted)
    return {instruction_ns, instruction_ns, launch_ns, launch_ns, launch_ns};
  const double operator_ns = device.fitted->of(FittedFigure::python_operator) * 1e9;
  if (reduces_in_cpp) return {operator_ns, instruction_ns, operator_ns, launch_ns, launch_ns};
  return {operator_ns, device.fitted->of(FittedFigure::python_hook) * 1e9, operator_ns, launch_ns,
          operator_ns};
}

HostTime host_time(InstructionKind kind, std::int64_t kernels, const HostCoefficients& coefficients) {
  const auto launches = static_cast<double>(kernels);
  const double fixed = fixed_ns(kind, coefficients);
  const double launch = launch_ns(kind, coefficients);
  return {fixed + std::min(launches, 1.0) * launch, fixed + launches * launch};
}

CostBreakdown explain_host_time(InstructionKind kind, std::int64_t kernels,
                                const HostCoefficients& coefficients) {
  return {host_time(kind, kernels, coefficients).total_ns,
          "host",
          fmt::format("{} + {} launches * {}", time_text(fixed_ns(kind, coefficients)), kernels,
                      time_text(launch_ns(kind, coefficients))),
          {}};
}

}  // namespace shardlab
