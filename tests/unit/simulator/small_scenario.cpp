#include "tests/unit/simulator/small_scenario.h"

#include <stdexcept>

#include <fmt/format.h>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab::test {

PlannedScenario small_scenario(const std::string& sections, const std::string& train,
                               const std::string& cluster, const std::string& model) {
  const std::string yaml = fmt::format(
      "name: small\nmodel: {{config: tiny-llama, {}{}}}\ncluster: {}\n{}\n"
      "train: {{micro_batch: 2, {}}}\n",
      model.find("sequence_length") == std::string::npos ? "sequence_length: 32, " : "", model, cluster,
      sections, train);
  const auto scenario = parse_scenario(yaml, "small.yaml");
  if (!scenario) throw std::runtime_error(to_string(scenario.error()));
  auto planned = plan_scenario(*scenario);
  if (!planned) throw std::runtime_error(to_string(planned.error()));
  return *std::move(planned);
}

Device device_of(const PlannedScenario& planned) {
  auto device = resolve_device(*planned.scenario.cluster);
  if (!device) throw std::runtime_error(to_string(device.error()));
  return *std::move(device);
}

}  // namespace shardlab::test
