#include "engine/execute/collective_timeout.h"

#include <algorithm>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

constexpr std::chrono::milliseconds k_default_on_cpu{30'000};

std::chrono::milliseconds to_milliseconds(Nanoseconds time) {
  return std::max(std::chrono::milliseconds(1), std::chrono::milliseconds(time.value / 1'000'000));
}

}  // namespace

std::chrono::milliseconds collective_timeout(const Scenario& scenario) {
  const bool given = scenario.launch->timeout != LaunchSpec{}.timeout;
  if (!given && scenario.cluster->device == DeviceKind::cpu) return k_default_on_cpu;
  return to_milliseconds(scenario.launch->timeout);
}

std::chrono::milliseconds arrival_timeout(const Scenario& scenario) {
  return to_milliseconds(scenario.launch->timeout);
}

}  // namespace shardlab
