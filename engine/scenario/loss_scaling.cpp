#include "engine/scenario/loss_scaling.h"

#include <algorithm>

#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Units may have a precision of their own.
bool overrides_use_float16(const WrapSpec& wrap) {
  return std::any_of(wrap.overrides.begin(), wrap.overrides.end(), [](const WrapOverride& override) {
    const auto is_float16 = [&](const char* key) {
      const auto found = override.settings.find(key);
      return found != override.settings.end() && found->second == to_string(DType::float16);
    };
    return is_float16("precision.param") || is_float16("precision.reduce");
  });
}

}  // namespace

int growth_interval(const Scenario& scenario) {
  const bool torchs = facts_of(scenario).loss_scaler == LossScaler::grad_scaler;
  return scenario.scaler->interval.value_or(torchs ? 2000 : 1000);
}

bool scales_loss(const Scenario& scenario) {
  if (scenario.scaler->enabled) return *scenario.scaler->enabled;
  const auto is_float16 = [](std::optional<DType> dtype) { return dtype == DType::float16; };
  return is_float16(scenario.model->dtype) || is_float16(scenario.precision->param) ||
         is_float16(scenario.precision->reduce) || is_float16(scenario.precision->autocast) ||
         overrides_use_float16(scenario.parallel->wrap);
}

}  // namespace shardlab
