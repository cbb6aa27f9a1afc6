#include "engine/report/communication_volume.h"

#include <algorithm>

#include "engine/plan/unit_sizes.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

// A flag or a few norms are not what the volume is about.
bool moves_parameters(const StepPlan& plan, const Instruction& instruction) {
  return std::any_of(instruction.reads.begin(), instruction.reads.end(),
                     [&](BufferId id) { return plan.buffer(id).layout != BufferLayout::opaque; });
}

bool trains_all_alike(const Scenario& scenario) {
  return !scenario.distillation && scenario.model->frozen.empty() && scenario.model->lora.rank == 0 &&
         scenario.parallel->wrap.overrides.empty() && scenario.parallel->wrap.ignored.empty() &&
         (scenario.activation->checkpoint == ActivationCheckpoint::none ||
          scenario.activation->placement == CheckpointPlacement::inside);
}

}  // namespace

std::optional<double> volume_limit(const Scenario& scenario) {
  if (world_size(scenario) == 1 || !trains_all_alike(scenario)) return std::nullopt;
  const StrategyType* const strategy = strategy_named(strategy_name(scenario));
  if (strategy == nullptr || strategy->volume_limit == nullptr) return std::nullopt;
  return strategy->volume_limit(scenario);
}

std::optional<CommunicationVolume> communication_volume(const PlannedScenario& planned) {
  const StepPlan& plan = planned.plan.steady;
  double elements = 0;  // that all ranks send
  for (const Instruction& instruction : plan.instructions) {
    if (!is_collective(instruction.kind) || !moves_parameters(plan, instruction)) continue;
    const DType dtype = plan.buffer(instruction.reads.front()).dtype;
    elements +=
        static_cast<double>(sent_bytes(plan, instruction).value) / static_cast<double>(element_size(dtype));
  }
  const auto model = static_cast<double>(total_parameters(planned.graph)) * plan.world_size;
  if (elements == 0 || model == 0) return std::nullopt;
  return CommunicationVolume{elements / model, volume_limit(planned.scenario)};
}

}  // namespace shardlab
