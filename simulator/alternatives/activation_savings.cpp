#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/train_spec.h"
#include "simulator/alternatives/savings.h"

namespace shardlab {

using C = BufferClass;

void add_activation_savings(const PlannedScenario& planned, Savings& savings) {
  const ActivationSpec& activation = *planned.scenario.activation;
  const std::vector<BufferClass> kept = {C::activation, C::activation_gradient, C::workspace};
  if (keeps_scores(planned.scenario.model->attention))
    savings.push_back({"model.attention=auto", "one kernel, never all scores", kept});
  if (activation.checkpoint != ActivationCheckpoint::full)
    savings.push_back({"activation.checkpoint=full", "computes layers again", kept});
  const bool checkpoints = activation.checkpoint != ActivationCheckpoint::none;
  if (checkpoints && activation.every > 1)
    savings.push_back({"activation.every=1", "computes every layer again", {C::activation}});
  if (checkpoints && activation.offload == OffloadTarget::none &&
      planned.scenario.cluster->device != DeviceKind::cpu)
    savings.push_back({"activation.offload=cpu", "what checkpoints hold, in host memory", {C::activation}});
  if (planned.scenario.model->loss.kind == LossKind::plain)
    savings.push_back({"model.loss={kind: chunked, chunks: 8}", "never all logits at once", kept});
  if (planned.scenario.train->optimizer_implementation != OptimizerImplementation::fused)
    savings.push_back({"train.optimizer_implementation=fused", "one kernel, no temporaries", {C::workspace}});
}

}  // namespace shardlab
