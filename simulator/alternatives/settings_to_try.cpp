#include "simulator/alternatives/settings_to_try.h"

#include <initializer_list>

#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

using C = BufferClass;

// A setting that frees memory: when it would change anything, and what of the peak it could take away.
struct Saving {
  const char* setting;
  const char* effect;
  bool (*applies)(const PlannedScenario& planned);
  std::initializer_list<BufferClass> frees;
};

bool gathers(const PlannedScenario& planned) {
  for (const Buffer& buffer : planned.plan.steady.buffers) {
    if (buffer.buffer_class == C::gathered_parameters) return true;
  }
  return false;
}

const Saving k_savings[] = {
    {"train.sync=every",
     "keeps only shards of gradients",
     [](const PlannedScenario& p) {
       return p.scenario.train->accumulation > 1 && p.scenario.train->sync == GradientSync::last &&
              gathers(p);
     },
     {C::gradient, C::reduce_buffer}},
    {"parallel.reshard_after_forward=true",
     "gathers again in backward",
     [](const PlannedScenario& p) { return gathers(p); },
     {C::gathered_parameters}},
    {"parallel.strategy=fsdp2",
     "shards states over the ranks",
     [](const PlannedScenario& p) { return p.plan.steady.world_size > 1 && !gathers(p); },
     {C::parameter, C::gradient, C::optimizer_state, C::reduce_buffer}},
    {"activation.checkpoint=full",
     "computes layers again",
     [](const PlannedScenario& p) { return p.scenario.activation->checkpoint != ActivationCheckpoint::full; },
     {C::activation, C::activation_gradient, C::workspace}},
    {"precision.param=bfloat16",
     "computes in 16 bits",
     [](const PlannedScenario& p) {
       return p.graph.compute_dtype == DType::float32 && !p.scenario.precision->param;
     },
     {C::activation, C::activation_gradient, C::gathered_parameters, C::gather_buffer, C::gradient,
      C::workspace}},
    {"model.loss={kind: chunked, chunks: 8}",
     "never all logits at once",
     [](const PlannedScenario& p) {
       return p.scenario.model->loss.kind == LossKind::plain && !p.scenario.distillation;
     },
     {C::activation, C::activation_gradient, C::workspace}},
};

bool could_halve(const Saving& saving, const MemorySummary& memory) {
  Bytes freed;
  for (const BufferClass each : saving.frees) freed += memory.by_class[static_cast<std::size_t>(each)];
  return freed.value * 2 >= memory.peak_allocated.value;
}

}  // namespace

std::vector<SettingToTry> other_implementation(const PlannedScenario& planned) {
  if (planned.scenario.model->implementation) return {};
  if (planned.graph.implementation == Implementation::eager)
    return {{"model.implementation=fused", "shardlab's own operators"}};
  return {};
}

std::vector<SettingToTry> settings_that_could_halve(const PlannedScenario& planned, const RunSummary& run) {
  std::vector<SettingToTry> settings;
  if (!run.memory) return settings;
  for (const Saving& saving : k_savings) {
    if (saving.applies(planned) && could_halve(saving, *run.memory))
      settings.push_back({saving.setting, saving.effect});
  }
  return settings;
}

}  // namespace shardlab
