#include "engine/doctor/job/phases.h"

#include "engine/base/with_spaces.h"
#include "engine/doctor/job/job_facts.h"

namespace shardlab {

std::string words_of(LifePhase phase) {
  return with_spaces(to_string(phase));
}

std::optional<ExceedingPhase> exceeding_phase(const Case& facts) {
  const RunSummary& run = *facts.job->predicted;
  if (!run.memory || !run.memory_limit) return std::nullopt;
  const Bytes host = facts.job->device->host_memory;
  Bytes beside;
  for (const MemoryOverhead& each : run.memory->overheads) {
    if (each.where == OverheadPlace::device) beside += each.bytes;
  }
  for (const PhaseMemory& phase : run.memory->life) {
    if (!phase.asked) continue;
    if (host.value > 0 && phase.host > host) return ExceedingPhase{phase.phase, true, phase.host, host};
    const bool is_step = phase.phase == LifePhase::first_step || phase.phase == LifePhase::steady;
    if (!is_step && phase.device + beside > *run.memory_limit)
      return ExceedingPhase{phase.phase, false, phase.device + beside, *run.memory_limit};
  }
  return std::nullopt;
}

std::optional<ExceedingPhase> steps_exceed_host(const Case& facts) {
  const auto& memory = facts.job->predicted->memory;
  const Bytes host = facts.job->device->host_memory;
  if (!memory || host.value == 0) return std::nullopt;
  for (const PhaseMemory& phase : memory->life) {
    if (phase.phase == LifePhase::steady && phase.asked && phase.host > host)
      return ExceedingPhase{phase.phase, true, phase.host, host};
  }
  return std::nullopt;
}

}  // namespace shardlab
