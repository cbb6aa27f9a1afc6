#include <algorithm>

#include "simulator/memory/life/life_rows.h"

namespace shardlab {

std::vector<PhaseMemory> step_phases(const JobState& job) {
  PhaseMemory first{.phase = LifePhase::first_step,
                    .host = job.processes,
                    .asked = true,
                    .runs = true,
                    .formula = "the first step's plan, which makes the optimizer's state"};
  for (const StepTrace& step : job.predicted.warmup)
    if (step.step == 0) first.device = peak_of(step);
  return {first,
          {.phase = LifePhase::steady,
           .device = peak_of(job.predicted.steps.front()),
           .host = job.processes,
           .asked = true,
           .runs = true,
           .formula = "the steady step's plan"}};
}

}  // namespace shardlab
