#include "simulator/alternatives/settings_to_try.h"

#include <initializer_list>
#include <optional>
#include <span>

#include <fmt/format.h>

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

bool has_buckets(const PlannedScenario& planned) {
  for (const Buffer& buffer : planned.plan.steady.buffers)
    if (buffer.role == BufferRole::bucket) return true;
  return false;
}

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

// What saves less, and is only worth a prediction where somebody asks what the peak is made of.
const Saving k_smaller_savings[] = {
    {"model.implementation=fused",
     "shardlab's own operators",
     [](const PlannedScenario& p) { return p.graph.implementation == Implementation::eager; },
     {C::activation, C::activation_gradient, C::workspace}},
    {"parallel.sharding=full_shard",
     "gathers again in backward",
     [](const PlannedScenario& p) {
       return gathers(p) && p.scenario.parallel->sharding != Fsdp1Sharding::full_shard;
     },
     {C::gathered_parameters, C::parameter_shard, C::gradient_shard, C::optimizer_state}},
    {"parallel.mesh.replicate=1",
     "shards over all ranks",
     [](const PlannedScenario& p) { return gathers(p) && p.scenario.parallel->mesh.replicate > 1; },
     {C::parameter_shard, C::gradient_shard, C::optimizer_state}},
    {"parallel.reshard_after_backward=true",
     "gathers again for each micro-batch",
     [](const PlannedScenario& p) { return !p.scenario.parallel->reshard_after_backward; },
     {C::gathered_parameters}},
    {"parallel.wrap={policy: transformer}",
     "gathers a layer at a time",
     [](const PlannedScenario& p) {
       return gathers(p) && p.scenario.parallel->wrap.policy != WrapPolicyKind::transformer;
     },
     {C::gathered_parameters, C::gather_buffer, C::gradient, C::reduce_buffer}},
    {"parallel.prefetch.backward=none",
     "gathers nothing ahead in backward",
     [](const PlannedScenario& p) {
       return gathers(p) && p.scenario.parallel->prefetch.backward != BackwardPrefetch::none;
     },
     {C::gathered_parameters, C::gather_buffer}},
    {"parallel.prefetch.backward_depth=0",
     "gathers fewer units ahead in backward",
     [](const PlannedScenario& p) { return p.scenario.parallel->prefetch.backward_depth > 0; },
     {C::gathered_parameters, C::gather_buffer}},
    {"parallel.prefetch.forward_depth=0",
     "gathers fewer units ahead in forward",
     [](const PlannedScenario& p) { return p.scenario.parallel->prefetch.forward_depth > 0; },
     {C::gathered_parameters, C::gather_buffer}},
    {"parallel.prefetch.limit_all_gathers=true",
     "two gathers in flight at most",
     [](const PlannedScenario& p) { return !p.scenario.parallel->prefetch.limit_all_gathers; },
     {C::gathered_parameters, C::gather_buffer}},
    {"parallel.ddp.gradient_as_bucket_view=true",
     "gradients live in the buckets",
     [](const PlannedScenario& p) {
       return has_buckets(p) && !p.scenario.parallel->ddp.gradient_as_bucket_view;
     },
     {C::gradient, C::reduce_buffer}},
    {"precision.reduce=bfloat16",
     "reduces gradients in 16 bits",
     [](const PlannedScenario& p) {
       return p.scenario.precision->reduce == DType::float32 && element_size(p.graph.compute_dtype) == 2;
     },
     {C::reduce_buffer}},
    {"model.dtype=bfloat16",
     "stores all in 16 bits: small updates are lost",
     [](const PlannedScenario& p) { return p.scenario.model->dtype == DType::float32; },
     {C::parameter, C::parameter_shard, C::gradient, C::gradient_shard, C::optimizer_state, C::reduce_buffer,
      C::activation, C::activation_gradient, C::gathered_parameters, C::gather_buffer, C::workspace}},
    {"train.optimizer_implementation=fused",
     "one kernel, no temporaries",
     [](const PlannedScenario& p) {
       return p.scenario.train->optimizer_implementation != OptimizerImplementation::fused;
     },
     {C::workspace}},
    {"activation.every=1",
     "computes every layer again",
     [](const PlannedScenario& p) {
       return p.scenario.activation->checkpoint != ActivationCheckpoint::none &&
              p.scenario.activation->every > 1;
     },
     {C::activation}},
};

Bytes held_by(const Saving& saving, const MemorySummary& memory) {
  Bytes held;
  for (const BufferClass each : saving.frees) held += memory.by_class[static_cast<std::size_t>(each)];
  return held;
}

bool could_halve(const Saving& saving, const MemorySummary& memory) {
  return held_by(saving, memory).value * 2 >= memory.peak_allocated.value;
}

SettingToTry to_try(const Saving& saving) {
  return {saving.setting, saving.effect, saving.frees};
}

// Half of each micro-batch: activations by the sequence.
std::optional<SettingToTry> smaller_micro_batch(const PlannedScenario& planned) {
  const int sequences = planned.scenario.train->micro_batch;
  if (sequences < 2) return std::nullopt;
  return SettingToTry{fmt::format("train.micro_batch={}", sequences / 2),
                      "fewer sequences at a time; with more accumulation the same batch",
                      {C::activation, C::activation_gradient, C::workspace, C::batch}};
}

}  // namespace

std::vector<SettingToTry> other_implementation(const PlannedScenario& planned) {
  if (planned.scenario.model->implementation) return {};
  if (planned.graph.implementation == Implementation::eager)
    return {{"model.implementation=fused", "shardlab's own operators", {}}};
  return {};
}

std::vector<SettingToTry> settings_that_could_halve(const PlannedScenario& planned, const RunSummary& run) {
  std::vector<SettingToTry> settings;
  if (!run.memory) return settings;
  for (const Saving& saving : k_savings) {
    if (saving.applies(planned) && could_halve(saving, *run.memory)) settings.push_back(to_try(saving));
  }
  return settings;
}

std::vector<SettingToTry> settings_that_could_save(const PlannedScenario& planned, const RunSummary& run) {
  std::vector<SettingToTry> settings;
  if (!run.memory) return settings;
  for (const std::span<const Saving> savings :
       {std::span<const Saving>(k_savings), std::span<const Saving>(k_smaller_savings)}) {
    for (const Saving& saving : savings) {
      if (saving.applies(planned) && held_by(saving, *run.memory).value > 0)
        settings.push_back(to_try(saving));
    }
  }
  if (auto smaller = smaller_micro_batch(planned)) settings.push_back(*std::move(smaller));
  return settings;
}

}  // namespace shardlab
