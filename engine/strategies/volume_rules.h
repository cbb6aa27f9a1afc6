// Rules for how much a step communicates, in units of the model, that several strategies share. What each
// number tends to with many ranks: padding and the outermost unit, which is not gathered again for backward,
// no longer matter (Rajbhandari et al. 2020, ZeRO, section 7).
#pragma once

#include <optional>

#include "engine/scenario/scenario.h"

namespace shardlab {

// How often a step reduces the gradients: with every micro-batch, or once.
double reductions_of_step(const Scenario& scenario);

// Every rank holds everything: an all-reduce sends the model twice.
std::optional<double> replicated_volume(const Scenario& scenario);

// The whole model is gathered `gathers` times and its gradients are reduced as above, over replicas too.
double sharded_volume(const Scenario& scenario, double gathers);

// parallel.reshard_after_forward says whether backward gathers again; none where parameters stay from one
// micro-batch to the next.
std::optional<double> resharding_volume(const Scenario& scenario);

}  // namespace shardlab
