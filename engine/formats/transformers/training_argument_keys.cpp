#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/formats/accelerate/accelerate_keys.h"
#include "engine/formats/accelerate/fsdp_words.h"
#include "engine/formats/transformers/trainer_settings.h"
#include "engine/formats/transformers/trainer_values.h"
#include "engine/formats/transformers/transformers_target.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

const TrainSpec& train(const Subject& s) {
  return *s.scenario.train;
}

// What Trainer calls the optimizers that it can make; null: the program makes it.
ToolValue optimizer_word(const Subject& s) {
  const bool fused = train(s).optimizer_implementation == OptimizerImplementation::fused;
  const bool paged = train(s).optimizer_paged;
  switch (train(s).optimizer) {
    case Optimizer::adamw: return paged ? "paged_adamw_32bit" : fused ? "adamw_torch_fused" : "adamw_torch";
    case Optimizer::adamw_8bit: return paged ? "paged_adamw_8bit" : "adamw_bnb_8bit";
    case Optimizer::adafactor: return "adafactor";
    case Optimizer::sgd: return "sgd";
    case Optimizer::adam: return nullptr;
  }
  return nullptr;
}

ToolValue schedule_word(const Subject& s) {
  const ScheduleSpec& schedule = train(s).schedule;
  if (schedule.kind != ScheduleKind::constant) return to_string(schedule.kind);
  return schedule.warmup_steps > 0 ? "constant_with_warmup" : "constant";
}

ToolValue steps(const Subject& s) {
  if (train(s).schedule.kind != ScheduleKind::constant) return train(s).schedule.total_steps;
  return train(s).steps > 0 ? ToolValue(train(s).steps) : nullptr;
}

ToolValue if_mixed(const Subject& s, DType dtype) {
  const bool by_deepspeed = framework(s) == Framework::deepspeed && compute_dtype(s) == dtype;
  return by_deepspeed || mixed_precision(s) == dtype;
}

ToolValue checkpointing_arguments(const Subject& s) {
  if (!checkpoints_outside_fsdp(s)) return nullptr;
  ToolValue arguments{{"use_reentrant", s.scenario.activation->reentrant}};
  if (s.scenario.activation->every > 1) arguments["every_n_layers"] = s.scenario.activation->every;
  if (offloads_checkpoints(s)) arguments["offload"] = true;
  return arguments;
}

ToolValue bucket_mebibytes(const Subject& s) {
  if (framework(s) != Framework::ddp) return nullptr;
  return s.scenario.parallel->ddp.bucket_size.value / 1048576;
}

ToolValue when_ddp(const Subject& s, bool DdpSpec::*option) {
  return framework(s) == Framework::ddp ? ToolValue(s.scenario.parallel->ddp.*option) : nullptr;
}

ToolValue deepspeed_path(const Subject& s) {
  return framework(s) == Framework::deepspeed ? ToolValue(deepspeed_file_name(s)) : nullptr;
}

ToolValue evaluation_steps(const Subject& s) {
  return train(s).evaluation.every > 0 ? ToolValue(train(s).evaluation.every) : nullptr;
}

constexpr ToolKey k_argument_keys[] = {
    {"output_dir", "checkpoint.path",
     [](const Subject& s) -> ToolValue {
       return s.scenario.checkpoint->path.empty() ? s.stem : s.scenario.checkpoint->path;
     },
     "trainer_output"},
    {"per_device_train_batch_size", "train.micro_batch",
     [](const Subject& s) -> ToolValue { return train(s).micro_batch; }, "8", read_trainer_batch},
    {"gradient_accumulation_steps", "train.accumulation",
     [](const Subject& s) -> ToolValue { return train(s).accumulation; }, "1", read_trainer_accumulation},
    {"max_steps", "train.schedule.total_steps", steps, "3 epochs"},
    {"num_train_epochs", "train.epochs",
     [](const Subject& s) { return train(s).epochs > 0 ? ToolValue(train(s).epochs) : ToolValue(); }, "3"},
    {"optim", "train.optimizer", optimizer_word, "adamw_torch_fused", read_trainer_optimizer},
    {"learning_rate", "train.learning_rate",
     [](const Subject& s) -> ToolValue { return train(s).learning_rate; }, "5e-05", read_learning_rate},
    {"adam_beta1", "train.betas", [](const Subject& s) -> ToolValue { return train(s).betas[0]; }, "0.9",
     read_betas},
    {"adam_beta2", "", [](const Subject& s) -> ToolValue { return train(s).betas[1]; }, "0.999"},
    {"adam_epsilon", "train.epsilon", [](const Subject& s) -> ToolValue { return train(s).epsilon; }, "1e-08",
     read_epsilon},
    {"weight_decay", "train.weight_decay",
     [](const Subject& s) -> ToolValue { return train(s).weight_decay; }, "0", read_weight_decay},
    {"max_grad_norm", "train.clip_norm",
     [](const Subject& s) -> ToolValue { return train(s).clip_norm.value_or(0); }, "1.0", read_max_norm},
    {"lr_scheduler_type", "train.schedule", schedule_word, "linear"},
    {"warmup_steps", "train.schedule.warmup_steps",
     [](const Subject& s) -> ToolValue { return train(s).schedule.warmup_steps; }, "0"},
    {"seed", "train.seed", [](const Subject& s) -> ToolValue { return train(s).seed; }, "42",
     read_trainer_seed},
    {"bf16", "precision.param", [](const Subject& s) { return if_mixed(s, DType::bfloat16); }, "false",
     read_trainer_bf16},
    {"fp16", "", [](const Subject& s) { return if_mixed(s, DType::float16); }, "false"},
    {"torch_compile", "model.compile",
     [](const Subject& s) {
       return s.scenario.model->compile == CompileScope::whole ? ToolValue(true) : ToolValue();
     },
     "false", read_trainer_compile},
    {"activation_checkpointing", "",
     [](const Subject& s) -> ToolValue { return checkpoints_outside_fsdp(s); }, "false"},
    {"activation_checkpointing_kwargs", "activation.reentrant", checkpointing_arguments, "not reentrant"},
    {"dataloader_num_workers", "train.data_workers",
     [](const Subject& s) -> ToolValue { return train(s).data_workers; }, "0", read_workers},
    {"dataloader_pin_memory", "train.pin_batches",
     [](const Subject& s) -> ToolValue { return train(s).pin_batches; }, "true", read_pinned_batches},
    {"eval_strategy", "train.evaluation",
     [](const Subject& s) -> ToolValue { return train(s).evaluation.every > 0 ? "steps" : "no"; }, "no"},
    {"eval_steps", "train.evaluation.every", evaluation_steps, "logging_steps"},
    {"save_strategy", "train.save",
     [](const Subject& s) -> ToolValue { return train(s).save.every > 0 ? "steps" : "no"; }, "steps"},
    {"save_steps", "train.save.every",
     [](const Subject& s) { return train(s).save.every > 0 ? ToolValue(train(s).save.every) : ToolValue(); },
     "500"},
    {"save_total_limit", "train.save.keep",
     [](const Subject& s) { return train(s).save.every > 0 ? ToolValue(train(s).save.keep) : ToolValue(); },
     "all"},
    {"resume_from_checkpoint", "checkpoint.resume",
     [](const Subject& s) {
       const std::string& from = s.scenario.checkpoint->resume;
       return from.empty() ? ToolValue() : ToolValue(from);
     },
     "none", read_resume},
    {"use_cpu", "cluster.device", [](const Subject& s) -> ToolValue { return on_processors(s); }, "false",
     read_trainer_cpu},
    {"ddp_bucket_cap_mb", "parallel.ddp.bucket_size", bucket_mebibytes, "25", read_bucket_size},
    {"ddp_find_unused_parameters", "parallel.ddp.find_unused_parameters",
     [](const Subject& s) { return when_ddp(s, &DdpSpec::find_unused_parameters); },
     "true without activation checkpointing", read_ddp_flag},
    {"ddp_static_graph", "parallel.ddp.static_graph",
     [](const Subject& s) { return when_ddp(s, &DdpSpec::static_graph); }, "false", read_ddp_flag},
    {"ddp_timeout", "launch.timeout",
     [](const Subject& s) -> ToolValue { return s.scenario.launch->timeout.value / 1'000'000'000; }, "1800",
     read_ddp_timeout},
    {"fsdp", "parallel.strategy", [](const Subject& s) { return is_fsdp(s) ? ToolValue(true) : ToolValue(); },
     "not sharded by FSDP", read_trainer_strategy},
    {"deepspeed", "", deepspeed_path, "not by DeepSpeed"},
};

}  // namespace

std::span<const ToolKey> training_argument_keys() {
  return k_argument_keys;
}

}  // namespace shardlab
