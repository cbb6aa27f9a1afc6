#include "engine/formats/accelerate/accelerate_program_rules.h"

#include <fmt/format.h>

#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

using Line = std::optional<std::string>;
using Subject = ExportSubject;

Line batch_line(const Subject& s) {
  return fmt::format("DataLoader(data_set, batch_size={})", s.scenario.train->micro_batch);
}

Line accumulation_line(const Subject& s) {
  const TrainSpec& train = *s.scenario.train;
  if (train.accumulation == 1) return std::nullopt;
  const int steps = train.accumulation;
  if (train.sync == GradientSync::every)
    return fmt::format(
        "Accelerator(gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps={}, "
        "sync_each_batch=True)), with accelerator.accumulate(model)",
        steps);
  return fmt::format("Accelerator(gradient_accumulation_steps={}), with accelerator.accumulate(model)",
                     steps);
}

// With a file of its own DeepSpeed clips.
Line clip_line(const Subject& s) {
  if (!s.scenario.train->clip_norm || by_deepspeed(s)) return std::nullopt;
  return fmt::format("accelerator.clip_grad_norm_(model.parameters(), {})", *s.scenario.train->clip_norm);
}

Line scaler_line(const Subject& s) {
  const ScalerSpec& scaler = *s.scenario.scaler;
  if (mixed_precision(s) != DType::float16 || by_deepspeed(s)) return std::nullopt;
  return fmt::format(
      "GradScalerKwargs(init_scale={}, growth_factor={}, backoff_factor={}, growth_interval={}, enabled={})",
      scaler.initial_scale, scaler.growth, scaler.backoff, growth_interval(s.scenario),
      scaler.enabled.value_or(true) ? "True" : "False");
}

Line save_line(const Subject& s) {
  const std::string& path = s.scenario.checkpoint->path;
  return path.empty() ? Line() : Line(fmt::format("accelerator.save_state(\"{}\")", path));
}

Line resume_line(const Subject& s) {
  const std::string& from = s.scenario.checkpoint->resume;
  return from.empty() ? Line() : Line(fmt::format("accelerator.load_state(\"{}\")", from));
}

Line buckets_line(const Subject& s) {
  const DdpSpec& ddp = s.scenario.parallel->ddp;
  if (framework(s) != Framework::ddp || ddp == DdpSpec{}) return std::nullopt;
  return fmt::format(
      "DistributedDataParallelKwargs(bucket_cap_mb={}, gradient_as_bucket_view={}, static_graph={}, "
      "find_unused_parameters={})",
      ddp.bucket_size.value / 1048576, ddp.gradient_as_bucket_view ? "True" : "False",
      ddp.static_graph ? "True" : "False", ddp.find_unused_parameters ? "True" : "False");
}

Line checkpointing_line(const Subject& s) {
  const ActivationSpec& activation = *s.scenario.activation;
  if (is_fsdp(s) || activation.checkpoint == ActivationCheckpoint::none) return std::nullopt;
  const std::string layers = activation.every > 1 ? fmt::format(", every_n_layers={}", activation.every) : "";
  const std::string call = fmt::format(
      "model.activation_checkpointing_enable(activation_checkpointing_kwargs={{\"use_reentrant\": {}}}{}{})",
      activation.reentrant ? "True" : "False", layers, offloads_checkpoints(s) ? ", offload=True" : "");
  if (activation.checkpoint == ActivationCheckpoint::selective)
    return fmt::format("{}, with a context_fn that keeps what activation.operators lists", call);
  return call;
}

Line meeting_line(const Subject& s) {
  if (nodes(s) == 1 || !s.scenario.launch->master.empty()) return std::nullopt;
  return "accelerate launch --main_process_ip HEAD --machine_rank RANK, on every node";
}

Line offload_line(const Subject& s) {
  if (is_fsdp(s) || s.scenario.activation->offload == OffloadTarget::none || offloads_checkpoints(s))
    return std::nullopt;  // in the line of the checkpoints
  return "with torch.autograd.graph.save_on_cpu(pin_memory=True), around forward";
}

constexpr std::string_view k_program = "the program makes it";

constexpr SettingRule k_program_rules[] = {
    {"launch.master", k_elsewhere, meeting_line, "the nodes are not known"},
    {"train.micro_batch", k_elsewhere, batch_line, "the program's data"},
    {"train.accumulation", k_elsewhere, accumulation_line, k_program},
    {"train.sync", k_elsewhere, nullptr, {}},  // with train.accumulation
    {"train.clip_norm", k_elsewhere, clip_line, k_program},
    {"scaler", k_elsewhere, scaler_line, k_program},
    {"checkpoint.path", k_elsewhere, save_line, k_program},
    {"checkpoint.resume", k_elsewhere, resume_line, k_program},
    // Full state dicts are collected in host memory, on rank 0.
    {"checkpoint.offload_to_cpu", k_elsewhere, nullptr, {}},
    {"checkpoint.rank0_only", k_elsewhere, nullptr, {}},
};

constexpr SettingRule k_replicated_rules[] = {
    {"parallel.ddp", k_elsewhere, buckets_line, k_program},
    {"activation.checkpoint", k_elsewhere, checkpointing_line, k_program},
    {"activation.offload", k_elsewhere, offload_line, k_program},
    // In the line of activation.checkpoint; a placement there is with units alone.
    {"activation.every", k_elsewhere, nullptr, {}},
    {"activation.operators", k_elsewhere, nullptr, {}},
    {"activation.reentrant", k_elsewhere, nullptr, {}},
    {"activation.placement", k_elsewhere, nullptr, {}},
    {"activation.partition", k_elsewhere, nullptr, {}},
};

}  // namespace

std::span<const SettingRule> accelerate_program_rules() {
  return k_program_rules;
}

std::span<const SettingRule> replicated_program_rules() {
  return k_replicated_rules;
}

}  // namespace shardlab
