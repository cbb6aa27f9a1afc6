#include "engine/doctor/job/batch_settings.h"

#include <fmt/format.h>

#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most = 10;  // levels that are tried

// One micro-batch reduces its gradients anyway: `every` would be a setting without effect.
std::vector<std::string> settings(const Scenario& scenario, int micro_batch, int accumulation) {
  std::vector<std::string> both = {fmt::format("train.micro_batch={}", micro_batch),
                                   fmt::format("train.accumulation={}", accumulation)};
  if (accumulation == 1 && scenario.train->sync == GradientSync::every) both.emplace_back("train.sync=last");
  return both;
}

}  // namespace

std::vector<std::vector<std::string>> smaller_micro_batches(const Scenario& scenario) {
  const int all = scenario.train->micro_batch;
  const bool kept_whole = scenario.train->sync == GradientSync::last;
  std::vector<std::vector<std::string>> levels;
  for (int parts = 2; parts <= all && levels.size() < k_most; ++parts) {
    if (all % parts != 0) continue;
    levels.push_back(settings(scenario, all / parts, scenario.train->accumulation * parts));
    if (!kept_whole) continue;
    levels.push_back(levels.back());
    levels.back().push_back("train.sync=every");
  }
  return levels;
}

std::vector<std::vector<std::string>> larger_micro_batches(const Scenario& scenario) {
  const int steps = scenario.train->accumulation;
  std::vector<std::vector<std::string>> levels;
  for (int times = 2; times <= steps && levels.size() < k_most; ++times) {
    if (steps % times == 0)
      levels.push_back(settings(scenario, scenario.train->micro_batch * times, steps / times));
  }
  return levels;
}

std::vector<std::vector<std::string>> larger_global_batches(const Scenario& scenario) {
  std::vector<std::vector<std::string>> levels;
  for (const int times : {2, 4, 8})
    levels.push_back({fmt::format("train.micro_batch={}", scenario.train->micro_batch * times)});
  return levels;
}

}  // namespace shardlab
