#include "simulator/cost/host_issue.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {

HostTime host_time(bool collective, std::int64_t kernels, const HostCoefficients& coefficients) {
  const auto launches = static_cast<double>(kernels);
  const double fixed = collective ? coefficients.collective_ns : coefficients.instruction_ns;
  return {fixed + std::min(launches, 1.0) * coefficients.launch_ns,
          fixed + launches * coefficients.launch_ns};
}

CostBreakdown explain_host_time(bool collective, std::int64_t kernels, const HostCoefficients& coefficients) {
  const double fixed = collective ? coefficients.collective_ns : coefficients.instruction_ns;
  return {host_time(collective, kernels, coefficients).total_ns,
          "host",
          fmt::format("{} + {} launches * {}", time_text(fixed), kernels, time_text(coefficients.launch_ns)),
          {}};
}

}  // namespace shardlab
