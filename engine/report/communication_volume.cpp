#include "engine/report/communication_volume.h"

#include <algorithm>

#include "engine/plan/layout.h"
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

// Bytes of a number that lies in the buffer: below one where several share a byte.
double bytes_of_number(const ModelGraph& graph, const Buffer& buffer) {
  const std::int64_t numbers = elements_of(make_layout(graph, buffer), buffer.layout);
  if (buffer.dtype != DType::uint8 || numbers <= buffer.elements)
    return static_cast<double>(element_size(buffer.dtype));
  return static_cast<double>(buffer.bytes().value) / static_cast<double>(numbers);
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

SentElements sent_elements(const PlannedScenario& planned) {
  const StepPlan& plan = planned.plan.steady;
  double elements = 0;
  for (const Instruction& instruction : plan.instructions) {
    if (!is_collective(instruction.kind) || !moves_parameters(plan, instruction)) continue;
    elements += static_cast<double>(instruction.bytes.value) *
                static_cast<double>(times_sent(plan, instruction)) /
                bytes_of_number(planned.graph, plan.buffer(instruction.reads.front()));
  }
  return {elements, static_cast<double>(total_parameters(planned.graph)) * plan.world_size};
}

std::optional<CommunicationVolume> volume_of(const SentElements& elements, std::optional<double> limit) {
  if (elements.sent == 0 || elements.of_model == 0) return std::nullopt;
  return CommunicationVolume{elements.sent / elements.of_model, limit};
}

std::optional<CommunicationVolume> communication_volume(const PlannedScenario& planned) {
  return volume_of(sent_elements(planned), volume_limit(planned.scenario));
}

}  // namespace shardlab
