#include "engine/formats/deepspeed/read_deepspeed.h"

#include <array>

#include "engine/formats/deepspeed/deepspeed_optimizer.h"
#include "engine/formats/deepspeed/deepspeed_settings.h"
#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/formats/tools/read_table.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

constexpr std::string_view k_quiet[] = {"steps_per_print",
                                        "dump_state",
                                        "disable_python_gc",
                                        "wall_clock_breakdown",
                                        "memory_breakdown",
                                        "tensorboard",
                                        "wandb",
                                        "csv_monitor",
                                        "comet",
                                        "comms_logger",
                                        "flops_profiler",
                                        "log_level",
                                        "timers",
                                        "vocabulary_size",
                                        "checkpoint",
                                        "datastates_ckpt",
                                        "dataloader_drop_last",
                                        "zero_allow_untested_optimizer",
                                        "zero_force_ds_cpu_optimizer",
                                        "zero_optimization.elastic_checkpoint",
                                        "zero_optimization.cpu_offload_use_pin_memory"};

constexpr std::string_view k_said[] = {"train_batch_size",
                                       "optimizer",
                                       "scheduler",
                                       "communication_data_type",
                                       "data_types.grad_accum_dtype",
                                       "zero_optimization.stage",
                                       "zero_optimization.cpu_offload",
                                       "zero_optimization.cpu_offload_param",
                                       "zero_optimization.stage3_gather_fp16_weights_on_model_save"};

constexpr KnownValue k_defaults[] = {
    {"prescale_gradients", "false"},
    {"gradient_predivide_factor", "1"},
    {"gradient_allreduce_op", "\"mean\""},
    {"managed_gradient_accumulation", "true"},
    {"disable_allgather", "false"},
    {"seq_parallel_communication_data_type", "\"fp32\""},
    {"sequence_parallel_size", "1"},
    {"zero_force_ds_cpu_optimizer", "true"},
    {"torch_autocast.enabled", "false"},
    {"fp16.auto_cast", "false"},
    {"fp16.fp16_master_weights_and_grads", "false"},
    {"bf16.immediate_grad_update", "false"},
    {"bf16.check_grad_overflow", "true"},
    {"bf16.bf16_master_weights_and_grads", "false"},
    {"bf16.bf16_optimizer_states", "false"},
    {"hybrid_engine.enabled", "false"},
    {"autotuning.enabled", "false"},
    {"compile.deepcompile", "false"},
    {"tensor_parallel.autotp_size", "0"},
    {"data_efficiency.enabled", "false"},
    {"zero_optimization.parameter_alignment", "false"},
    {"zero_optimization.offload_param.buffer_size", "100000000"},
    {"zero_optimization.offload_param.max_in_cpu", "1000000000"},
    {"zero_optimization.offload_optimizer.fast_init", "false"},
    {"zero_optimization.offload_optimizer.super_offload", "false"},
    {"zero_optimization.offload_optimizer.cpuadam_cores_perc", "0.8"},
};

bool is_off(const ImportSubject& s, std::string_view section) {
  const ForeignValue* const enabled = s.in_deepspeed(std::string(section) + ".enabled");
  if (is_automatic(enabled) && section == "fp16") return !in_float16(s);
  if (is_automatic(enabled) && section == "bf16") return !in_bfloat16(s);
  return enabled == nullptr || (!is_automatic(enabled) && !enabled->flag);
}

bool drives_nothing(const ImportSubject& s, std::string_view section) {
  static constexpr std::string_view k_drive = "nvme";
  const ForeignValue* const device =
      s.in_deepspeed(std::string("zero_optimization.") + std::string(section) + ".device");
  return device == nullptr || device->text.compare(k_drive) != 0;
}

// A key inside zero_optimization, without what its sections say.
UnreadVerdict judge_zero_key(const ImportSubject& s, std::string_view key) {
  static constexpr std::string_view k_others[] = {"zenflow", "parameter_alignment"};
  if (is_among(k_others, key)) return {};
  const int stage = zero_stage(s);
  if (stage == 0) return {UnreadKind::quiet, "no effect at stage 0"};
  if (!has_effect_under(key, stage)) return {UnreadKind::quiet, "no effect at this stage"};
  return {UnreadKind::said};
}

UnreadVerdict judge(const ImportSubject& s, std::string_view key, const ForeignValue& value) {
  static constexpr std::string_view k_zero = "zero_optimization.";
  static constexpr std::string_view k_checkpointing = "activation_checkpointing";
  if (is_among(k_said, key) || has_known_value(k_defaults, key, value)) return {UnreadKind::said};
  if (is_among(k_quiet, key)) return {UnreadKind::quiet};
  if (key == k_checkpointing)
    return {UnreadKind::quiet, "of deepspeed.checkpointing, which the program calls or not"};
  for (const std::string_view section :
       {"fp16", "bf16", "hybrid_engine", "autotuning", "torch_autocast", "data_efficiency"}) {
    if (key.starts_with(section) && key.find('.') != std::string_view::npos && is_off(s, section))
      return {UnreadKind::quiet, "not enabled"};
  }
  const bool no_drive = drives_nothing(s, k_param_section) && drives_nothing(s, k_optimizer_section);
  if (key == "aio" && no_drive) return {UnreadKind::quiet, "nothing is offloaded to a drive"};
  if (key.starts_with("zero_optimization.offload_") && !value.is_map() && no_drive)
    return {UnreadKind::quiet, "of drives"};
  if (key.starts_with(k_zero) && !key.starts_with("zero_optimization.offload_"))
    return judge_zero_key(s, key.substr(k_zero.size()));
  return {};
}

}  // namespace

void read_deepspeed(const ImportSubject& subject, ImportReading& reading) {
  const std::array tables{ToolTable{deepspeed_keys(), nullptr}};
  const int stage = zero_stage(subject);
  const ForeignValue* const said = subject.in_deepspeed("zero_optimization.stage");
  ImportedSetting strategy;
  strategy.key = "parallel.strategy";
  strategy.value = yaml_scalar(strategy_of(Framework::deepspeed, stage));
  strategy.value.place = said == nullptr ? in_file(subject.deepspeed->place.file) : said->place;
  strategy.origin = said == nullptr ? ImportedSetting::Origin::assumed : ImportedSetting::Origin::said;
  strategy.from = "zero_optimization.stage";
  if (said == nullptr) strategy.note = "the file leaves zero_optimization.stage out: stage 0";
  reading.set(std::move(strategy));
  read_tables(tables, *subject.deepspeed, subject, reading);
  read_deepspeed_optimizer(subject, reading);
  read_deepspeed_schedule(subject, reading);
  list_unread(
      tables, *subject.deepspeed,
      [&](std::string_view key, const ForeignValue& value) { return judge(subject, key, value); }, reading);
}

}  // namespace shardlab
