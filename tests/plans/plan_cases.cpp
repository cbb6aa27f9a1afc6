#include "tests/plans/plan_cases.h"

#include <algorithm>
#include <fstream>

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

constexpr const char* k_small_llama = R"(
name: small-llama
model: {config: small_llama.json, sequence_length: 16}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 2}
)";

PlanCase read_case(const std::filesystem::path& path) {
  PlanCase plan_case;
  plan_case.name = path.stem().string();
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("set ", 0) == 0) {
      plan_case.overrides.push_back(line.substr(4));
    } else {
      plan_case.lines.push_back(line);
    }
  }
  return plan_case;
}

}  // namespace

std::vector<PlanCase> read_cases(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SHARDLAB_TEST_DATA) + "/plans/" + folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<PlanCase> cases;
  for (const auto& path : paths) cases.push_back(read_case(path));
  return cases;
}

Result<Scenario> parse_small_llama(const std::vector<std::string>& overrides) {
  return parse_scenario(k_small_llama, std::string(SHARDLAB_TEST_DATA) + "/plans/small_llama.yaml",
                        overrides);
}

Scenario small_llama(const std::vector<std::string>& overrides) {
  auto scenario = parse_small_llama(overrides);
  if (!scenario) FAIL(to_string(scenario.error()));
  return *scenario;
}

PlannedScenario plan_small_llama(const std::vector<std::string>& overrides) {
  auto planned = plan_scenario(small_llama(overrides));
  if (!planned) FAIL(to_string(planned.error()));
  return *std::move(planned);
}

std::string value_of(const PlanCase& plan_case, const std::string& key) {
  for (const std::string& line : plan_case.lines) {
    if (line.rfind(key + ' ', 0) == 0) return line.substr(key.size() + 1);
  }
  return {};
}

}  // namespace shardlab::test
