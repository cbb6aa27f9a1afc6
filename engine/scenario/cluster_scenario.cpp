#include "engine/scenario/cluster_scenario.h"

#include <vector>

#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

constexpr const char* k_rest = R"(
name: probes
model: {config: tiny-llama, sequence_length: 16}
parallel: {strategy: fsdp2}
)";

// Whoever wrote the cluster knows no file and no --set.
void place_at_option(Error& error) {
  if (!error.place.file.empty()) error.place = named(in_file("--cluster"), error.place.name);
  for (Error& part : error.parts) place_at_option(part);
}

}  // namespace

Result<Scenario> scenario_of_cluster(const std::string& cluster) {
  const std::vector<std::string> overrides{"cluster=" + cluster};
  Result<Scenario> scenario = parse_scenario(k_rest, "probes.yaml", overrides);
  if (!scenario) place_at_option(scenario.error());
  return scenario;
}

}  // namespace shardlab
