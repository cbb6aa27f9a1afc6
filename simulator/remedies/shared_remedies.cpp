#include "simulator/remedies/shared_remedies.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {
namespace {

struct StepOfKeys {
  std::string_view begin;  // of the setting
  RemedyStep step;
};

// The first that a setting begins with; what is named by none is about sharding.
constexpr StepOfKeys k_steps[] = {
    {"parallel.wrap", RemedyStep::wrapping},
    {"parallel.prefetch.", RemedyStep::limits},
    {"parallel.ddp.", RemedyStep::limits},
    {"cluster.allocator.", RemedyStep::limits},
    {"train.optimizer_implementation", RemedyStep::limits},
    {"model.attention", RemedyStep::attention},
    {"model.loss", RemedyStep::loss},
    {"activation.offload", RemedyStep::activation_offload},
    {"activation.", RemedyStep::checkpointing},
    {"offload.optimizer", RemedyStep::optimizer_offload},
    {"offload.parameters", RemedyStep::parameter_offload},
    {"distillation.teacher.dtype", RemedyStep::lower_types},
};

RemedyStep step_of(const std::string& setting) {
  for (const StepOfKeys& each : k_steps) {
    if (setting.starts_with(each.begin)) return each.step;
  }
  return RemedyStep::sharding;
}

bool has_level(const std::vector<Remedy>& remedies, const std::vector<std::string>& level) {
  return std::any_of(remedies.begin(), remedies.end(), [&](const Remedy& each) {
    return std::find(each.levels.begin(), each.levels.end(), level) != each.levels.end();
  });
}

}  // namespace

std::vector<Remedy> shared_remedies(const PlannedScenario& planned, const RunSummary& run) {
  std::vector<Remedy> remedies;
  for (const SettingToTry& each : settings_that_could_save(planned, run)) {
    if (each.touches == Touches::nothing || each.touches == Touches::teacher)
      remedies.push_back({step_of(each.setting), {{each.setting}}});
  }
  return remedies;
}

void add_new(const std::vector<Remedy>& more, std::vector<Remedy>& remedies) {
  for (const Remedy& each : more) {
    const bool known = std::all_of(each.levels.begin(), each.levels.end(),
                                   [&](const auto& level) { return has_level(remedies, level); });
    if (!known) remedies.push_back(each);
  }
}

}  // namespace shardlab
