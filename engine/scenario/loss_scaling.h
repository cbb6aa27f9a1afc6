// Whether a scenario's loss is scaled.
#pragma once

#include "engine/scenario/scenario.h"

namespace shardlab {

// scaler.enabled, or, where it is not given, whether anything is computed or reduced in float16.
bool scales_loss(const Scenario& scenario);
// Steps without overflow after which the scale grows: scaler.interval, or what the framework takes.
int growth_interval(const Scenario& scenario);

}  // namespace shardlab
