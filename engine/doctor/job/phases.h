// Phases of a job's life (making, loading, saving the model) that do not fit.
#pragma once

#include <optional>

#include "engine/doctor/case.h"
#include "engine/trace/life_phase.h"

namespace shardlab {

struct ExceedingPhase {
  LifePhase phase = LifePhase::steady;
  bool on_host = false;  // in the memory of a node; else on the device
  Bytes needs, limit;
};

// The first phase of the predicted job that needs more than there is; of the steps only what they hold on
// the host.
std::optional<ExceedingPhase> exceeding_phase(const Case& facts);

// The steps, where a node has not the memory for what they hold on the host.
std::optional<ExceedingPhase> steps_exceed_host(const Case& facts);

// "save full".
std::string words_of(LifePhase phase);

}  // namespace shardlab
