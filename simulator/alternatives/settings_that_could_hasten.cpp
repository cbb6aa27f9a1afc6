#include "simulator/alternatives/settings_that_could_hasten.h"

#include <utility>

#include <fmt/format.h>

#include "engine/hardware/device.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/zero_options.h"
#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {
namespace {

class Settings {
 public:
  explicit Settings(const PlannedScenario& planned)
      : scenario_(planned.scenario),
        facts_(facts_of(planned.scenario)),
        parallel_(*planned.scenario.parallel),
        train_(*planned.scenario.train) {}

  std::vector<SettingsToTry> all() {
    add_operators();
    add_activations();
    add_batches();
    add_units();
    add_zero();
    add_precision();
    add_offloads();
    return std::move(found_);
  }

 private:
  void add(std::string setting, std::string effect) {
    found_.push_back({{std::move(setting)}, std::move(effect)});
  }

  void add_operators() {
    if (scenario_.cluster->device == DeviceKind::cpu) return;
    if (keeps_scores(scenario_.model->attention)) add("model.attention=auto", "attention is one kernel");
    if (scenario_.model->compile == CompileScope::none)
      add("model.compile=blocks", "torch.compile of every layer");
    if (scenario_.model->implementation != Implementation::fused)
      found_.push_back({{k_own_operators}, k_comparison, true});
    if (train_.optimizer_implementation != OptimizerImplementation::fused)
      add("train.optimizer_implementation=fused", "one kernel for the update");
  }

  void add_activations() {
    const ActivationSpec& activation = *scenario_.activation;
    if (activation.checkpoint != ActivationCheckpoint::none)
      add("activation.checkpoint=none", "keeps what backward needs, computes nothing again");
    if (activation.checkpoint == ActivationCheckpoint::full && activation.every == 1)
      add("activation.every=2", "computes every second layer again");
    if (activation.offload != OffloadTarget::none)
      add("activation.offload=none", "keeps activations on the device");
  }

  // The same global batch in fewer, larger micro-batches; else a larger global batch.
  void add_batches() {
    const std::string larger = fmt::format("train.micro_batch={}", train_.micro_batch * 2);
    if (train_.accumulation % 2 == 0)
      add_half_as_many(larger);
    else
      add(larger, "twice the global batch");
    add(fmt::format("train.accumulation={}", train_.accumulation * 2), "twice the global batch");
    if (train_.sync == GradientSync::every && train_.accumulation > 1)
      add("train.sync=last", "reduces gradients once a step");
  }

  // One micro-batch reduces its gradients anyway: `every` would be a setting without effect.
  void add_half_as_many(const std::string& larger) {
    const int left = train_.accumulation / 2;
    std::vector<std::string> settings = {larger, fmt::format("train.accumulation={}", left)};
    if (left == 1 && train_.sync == GradientSync::every) settings.emplace_back("train.sync=last");
    found_.push_back({std::move(settings), "the same global batch in half as many micro-batches"});
  }

  void add_units() {
    const PrefetchSpec& prefetch = parallel_.prefetch;
    const auto has = [&](std::string_view key) { return accepts(facts_, key); };
    if (has("parallel.reshard_after_forward"))
      add("parallel.reshard_after_forward=false", "gathers once, keeps parameters until backward");
    if (has("parallel.sharding") && parallel_.sharding == Fsdp1Sharding::full_shard)
      add("parallel.sharding=shard_grad_op", "gathers once, keeps parameters until backward");
    if (has("parallel.prefetch.backward") && prefetch.backward != BackwardPrefetch::pre)
      add("parallel.prefetch.backward=pre", "gathers ahead in backward, before its own reduction");
    if (has("parallel.prefetch.forward") && !prefetch.forward)
      add("parallel.prefetch.forward=true", "gathers ahead in forward");
    if (has("parallel.prefetch.forward_depth") && prefetch.forward_depth == 0)
      add("parallel.prefetch.forward_depth=2", "gathers two units ahead in forward");
    if (has("parallel.prefetch.backward_depth") && prefetch.backward_depth == 0)
      add("parallel.prefetch.backward_depth=2", "gathers two units ahead in backward");
    if (has("parallel.prefetch.limit_all_gathers") && prefetch.limit_all_gathers)
      add("parallel.prefetch.limit_all_gathers=false", "the host waits for no memory of gathers");
    if (has("parallel.ddp")) add("parallel.ddp.bucket_size=100MiB", "fewer, larger all-reduces");
    add_replicas();
  }

  // A copy a node: gathers stay within nodes.
  void add_replicas() {
    const int nodes = scenario_.cluster->nodes;
    if (!facts_.gathers_units || nodes < 2 || resolve_mesh(scenario_).replicate > 1) return;
    if (accepts(facts_, "parallel.sharding")) {
      found_.push_back({{fmt::format("parallel.mesh.replicate={}", nodes), "parallel.sharding=hybrid_shard"},
                        "a copy a node: gathers stay within nodes"});
      return;
    }
    add(fmt::format("parallel.mesh.replicate={}", nodes), "a copy a node: gathers stay within nodes");
  }

  void add_zero() {
    if (facts_.zero_stage == 0) return;
    const ZeroOptions options = zero_options(scenario_);
    if (!options.overlaps(facts_.zero_stage))
      add("parallel.zero.overlap_comm=true", "reduces beside backward");
    if (facts_.zero_stage == 3)
      add("parallel.zero.stage3_prefetch_bucket_size=200000000", "gathers farther ahead");
  }

  void add_precision() {
    const PrecisionSpec& precision = *scenario_.precision;
    if (!precision.param && !precision.autocast && scenario_.model->dtype == DType::float32)
      add("precision.param=bfloat16", "computes in 16 bits");
    if (emulates_bfloat16())
      add("precision.param=float16", "the GPU has matrix units for float16 and none for bfloat16");
    if (precision.reduce == DType::float32)
      add("precision.reduce=bfloat16", "reduces gradients in 16 bits: sums over many ranks lose digits");
  }

  // Its products run at the rate of float32: on V100 and T4.
  bool emulates_bfloat16() const {
    const DType computed = scenario_.precision->param.value_or(scenario_.model->dtype);
    const auto device = resolve_device(*scenario_.cluster);
    return computed == DType::bfloat16 && device && device->kind == DeviceKind::gpu &&
           !device->peaks.bfloat16;
  }

  void add_offloads() {
    if (scenario_.offload->parameters != OffloadTarget::none)
      add("offload.parameters=none", "parameters on the device");
    if (scenario_.offload->optimizer != OffloadTarget::none)
      add("offload.optimizer=none", "the optimizer's state on the device, updated there");
  }

  const Scenario& scenario_;
  const StrategyFacts& facts_;
  const ParallelSpec& parallel_;
  const TrainSpec& train_;
  std::vector<SettingsToTry> found_;
};

}  // namespace

std::vector<SettingsToTry> settings_that_could_hasten(const PlannedScenario& planned) {
  std::vector<SettingsToTry> found = Settings(planned).all();
  for (SettingsToTry& each : teacher_settings_that_could_hasten(planned)) found.push_back(std::move(each));
  return found;
}

}  // namespace shardlab
