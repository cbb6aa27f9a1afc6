#include "simulator/remedies/trials.h"

#include <utility>

#include "engine/doctor/job/room.h"
#include "simulator/alternatives/predict_with.h"

namespace shardlab {

Trials::Trials(const PlannedScenario& planned, const RunSummary& before, const Calibration* calibration,
               std::size_t most, std::function<bool()> is_wanted)
    : planned_(planned),
      before_(before),
      calibration_(calibration),
      most_(most),
      is_wanted_(std::move(is_wanted)) {}

const RunSummary* Trials::with(const Settings& settings) {
  auto found = made_.find(settings);
  if (found == made_.end()) {
    std::optional<RunSummary> run;
    if (predictions_ < most_ && (!is_wanted_ || is_wanted_())) {
      ++predictions_;
      auto predicted = predict_with(planned_, settings, calibration_);
      if (!predicted && is_of_the_machine(predicted.error())) trouble_ = predicted.error();
      if (predicted && predicted->run.memory && predicted->planned.scenario != planned_.scenario)
        run = std::move(predicted->run);
    }
    found = made_.emplace(settings, std::move(run)).first;
  }
  return found->second ? &*found->second : nullptr;
}

Cost cost_of(const RunSummary& run) {
  Cost cost;
  if (run.memory) {
    cost.peak = run.memory->peak_allocated;
    cost.reserved = run.memory->peak_reserved;
  }
  cost.step_time = run.step_time.median;
  cost.exposed = run.exposed_communication;
  if (run.fits) cost.fits = *run.fits != Fit::no;
  cost.too_much = shortage_of(run);
  return cost;
}

}  // namespace shardlab
