#include "engine/report/communication_volume.h"

#include <algorithm>

#include "engine/base/parse.h"
#include "engine/plan/sent_bytes.h"
#include "engine/scenario/mesh.h"

namespace shardlab {
namespace {

// A flag or a few norms are not what the volume is about.
bool moves_parameters(const StepPlan& plan, const Instruction& instruction) {
  return std::any_of(instruction.reads.begin(), instruction.reads.end(),
                     [&](BufferId id) { return plan.buffer(id).layout != BufferLayout::opaque; });
}

// How often the whole model is gathered and its gradients are reduced in a step.
struct Rounds {
  double gathers = 0, reductions = 0;
};

std::optional<Rounds> fsdp1_rounds(const Scenario& scenario, double micro_batches, double reductions) {
  if (reshards_after_forward(scenario.parallel.sharding)) return Rounds{2 * micro_batches, reductions};
  // Without synchronisation parameters stay gathered from the first micro-batch to the last.
  return Rounds{scenario.train.sync == GradientSync::every ? micro_batches : 1, reductions};
}

std::optional<Rounds> fsdp2_rounds(const Scenario& scenario, double micro_batches, double reductions) {
  if (!scenario.parallel.reshard_after_backward) return std::nullopt;
  const std::string& reshard = scenario.parallel.reshard_after_forward;
  if (reshard == "false") return Rounds{micro_batches, reductions};
  const auto sub_group = parse_integer(reshard);  // in whose ranks backward gathers
  const double backward = sub_group ? 1.0 - 1.0 / static_cast<double>(*sub_group) : 1;
  return Rounds{(1 + backward) * micro_batches, reductions};
}

bool trains_all_alike(const Scenario& scenario) {
  return !scenario.distillation && scenario.model.frozen.empty() && scenario.model.lora.rank == 0 &&
         scenario.parallel.wrap.overrides.empty() && scenario.parallel.wrap.ignored.empty() &&
         (scenario.activation.checkpoint == ActivationCheckpoint::none ||
          scenario.activation.placement == CheckpointPlacement::inside);
}

}  // namespace

std::optional<double> volume_limit(const Scenario& scenario) {
  if (world_size(scenario) == 1 || !trains_all_alike(scenario)) return std::nullopt;
  const std::string& strategy = scenario.parallel.strategy;
  const double micro_batches = scenario.train.accumulation;
  const double reductions = scenario.train.sync == GradientSync::every ? micro_batches : 1;
  if (strategy == "ddp" || (strategy == "fsdp1" && scenario.parallel.sharding == Fsdp1Sharding::no_shard))
    return 2 * reductions;
  std::optional<Rounds> rounds;
  if (strategy == "fsdp1") rounds = fsdp1_rounds(scenario, micro_batches, reductions);
  if (strategy == "fsdp2" || strategy == "native") rounds = fsdp2_rounds(scenario, micro_batches, reductions);
  if (!rounds) return std::nullopt;
  const ResolvedMesh mesh = resolve_mesh(scenario);
  double limit = rounds->gathers + rounds->reductions;
  if (mesh.replicate > 1) {
    const double joined = scenario.parallel.requires_all_reduce ? reductions : 1;
    limit += 2 * joined / mesh.shard;  // all-reduces of the shard
  }
  return limit;
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
