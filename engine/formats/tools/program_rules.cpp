#include "engine/formats/tools/program_rules.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/formats/tools/pretrained_name.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

using Line = std::optional<std::string>;
using Subject = ExportSubject;

std::string quoted_list(std::span<const std::string> texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(fmt::format("\"{}\"", text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

Line model_line(const Subject& s) {
  return model_in_python(s.scenario);
}

Line sequence_line(const Subject& s) {
  return fmt::format("every sequence of the data set has {} tokens", s.scenario.model->sequence_length);
}

Line loss_line(const Subject& s) {
  const LossSpec& loss = s.scenario.model->loss;
  if (loss.kind == LossKind::plain) return std::nullopt;
  return fmt::format("a chunked cross-entropy ({} parts) instead of the model's own loss", loss.chunks);
}

Line frozen_line(const Subject& s) {
  const auto& frozen = s.scenario.model->frozen;
  if (frozen.empty()) return std::nullopt;
  return fmt::format("requires_grad_(False) of the parameters that match {}", quoted_list(frozen));
}

// peft takes the words for all layers, and for its own choice, alone and not in a list.
std::string adapted_layers(const LoraSpec& lora) {
  if (lora.targets.size() == 1 && lora.targets.front() == k_peft_default) return "None";
  if (lora.targets.size() == 1 && lora.targets.front() == "all-linear") return "\"all-linear\"";
  return quoted_list(lora.targets);
}

Line adapters_line(const Subject& s) {
  const LoraSpec& lora = s.scenario.model->lora;
  if (lora.rank == 0) return std::nullopt;
  return fmt::format("model = get_peft_model(model, LoraConfig({}))", adapter_arguments(lora));
}

Line compile_line(const Subject& s) {
  switch (s.scenario.model->compile) {
    case CompileScope::none: return std::nullopt;
    case CompileScope::blocks: return "for layer in model.model.layers: layer.compile()";
    case CompileScope::whole: return "model = torch.compile(model)";
  }
  return std::nullopt;
}

Line float8_line(const Subject& s) {
  if (s.scenario.model->fp8 == Fp8Scaling::none) return std::nullopt;
  return fmt::format("torchao's convert_to_float8_training(model), {} scaling",
                     to_string(s.scenario.model->fp8));
}

// Weights are packed in the dtype that FSDP flattens.
Line quantized_line(const Subject& s) {
  const ModelSpec& model = *s.scenario.model;
  switch (model.quantized) {
    case Quantization::none: return std::nullopt;
    case Quantization::int8: return "quantization_config=BitsAndBytesConfig(load_in_8bit=True)";
    case Quantization::nf4:
    case Quantization::nf4_double: break;
  }
  return fmt::format(
      "quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"nf4\", "
      "bnb_4bit_use_double_quant={}, bnb_4bit_compute_dtype=torch.{}, bnb_4bit_quant_storage=torch.{})",
      model.quantized == Quantization::nf4_double ? "True" : "False", to_string(model.dtype),
      to_string(model.dtype));
}

Line dropout_line(const Subject& s) {
  const std::optional<double> dropout = s.scenario.model->dropout;
  if (!dropout) return std::nullopt;
  return fmt::format("a model configuration with dropout {}", *dropout);
}

Line overrides_line(const Subject& s) {
  const auto& overrides = s.scenario.model->overrides;
  if (overrides.empty()) return std::nullopt;
  std::vector<std::string> fields;
  for (const auto& [field, value] : overrides) fields.push_back(field + "=" + value);
  return fmt::format("AutoConfig.from_pretrained(..., {})", fmt::join(fields, ", "));
}

Line teacher_line(const Subject& s) {
  if (!s.scenario.distillation) return std::nullopt;
  return fmt::format("the loss of a teacher, {}, and how the teacher is sharded",
                     s.scenario.distillation->teacher.model->config);
}

Line optimizer_line(const Subject& s) {
  return "optimizer = " + optimizer_call(s);
}

Line schedule_line(const Subject& s) {
  const ScheduleSpec& schedule = s.scenario.train->schedule;
  if (schedule.kind == ScheduleKind::constant && schedule.warmup_steps == 0) return std::nullopt;
  return fmt::format("transformers.get_scheduler(\"{}\", optimizer, {}, {})",
                     schedule.kind == ScheduleKind::constant ? "constant_with_warmup"
                                                             : std::string(to_string(schedule.kind)),
                     schedule.warmup_steps, schedule.total_steps);
}

Line data_line(const Subject& s) {
  if (s.scenario.train->data.empty()) return std::nullopt;
  return "the data set: " + fmt::format("{}", fmt::join(s.scenario.train->data, ", "));
}

Line clip_value_line(const Subject& s) {
  if (!s.scenario.train->clip_value) return std::nullopt;
  return fmt::format("torch.nn.utils.clip_grad_value_(model.parameters(), {})",
                     *s.scenario.train->clip_value);
}

Line given(const Subject& s, const char* setting, const char* line) {
  return s.source.given(setting) ? Line(fmt::format("{}: {}", line, shown_setting(s, setting))) : Line();
}

Line environment_line(const Subject& s) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : s.scenario.launch->environment)
    lines.push_back(fmt::format("export {}={}", name, value));
  return lines.empty() ? Line() : Line(fmt::format("{}", fmt::join(lines, "; ")));
}

Line allocator_line(const Subject& s) {
  const std::string& conf = s.scenario.cluster->allocator_conf;
  return conf.empty() ? Line() : Line("export PYTORCH_ALLOC_CONF=" + conf);
}

constexpr std::string_view k_program = "the program makes it";
constexpr std::string_view k_environment = "of the shell that starts the ranks";

constexpr SettingRule k_program_rules[] = {
    {"model", DifferenceKind::elsewhere, model_line, k_program},
    {"model.sequence_length", DifferenceKind::elsewhere, sequence_line, "the program's data"},
    {"model.loss", DifferenceKind::elsewhere, loss_line, k_program},
    {"model.frozen", DifferenceKind::elsewhere, frozen_line, k_program},
    {"model.lora", DifferenceKind::elsewhere, adapters_line, k_program},
    {"model.compile", DifferenceKind::elsewhere, compile_line, k_program},
    {"model.fp8", DifferenceKind::elsewhere, float8_line, k_program},
    {"model.quantized", DifferenceKind::elsewhere, quantized_line, k_program},
    {"model.dropout", DifferenceKind::elsewhere, dropout_line, k_program},
    {"model.overrides", DifferenceKind::elsewhere, overrides_line, k_program},
    {"distillation", DifferenceKind::elsewhere, teacher_line, "no trainer has a teacher"},
    {"train.optimizer", DifferenceKind::elsewhere, optimizer_line, k_program},
    {"train.optimizer_paged", DifferenceKind::elsewhere, nullptr, {}},  // with train.optimizer
    {"train.optimizer_in_backward", DifferenceKind::elsewhere,
     [](const Subject& s) {
       return given(s, "train.optimizer_in_backward",
                    "parameter.register_post_accumulate_grad_hook, which steps and drops the gradient");
     },
     k_program},
    {"train.schedule", DifferenceKind::elsewhere, schedule_line, k_program},
    {"train.clip_value", DifferenceKind::elsewhere, clip_value_line, k_program},
    {"train.data", DifferenceKind::elsewhere, data_line, k_program},
    {"train.seed", DifferenceKind::elsewhere,
     [](const Subject& s) { return given(s, "train.seed", "transformers.set_seed"); }, k_program},
    {"train.evaluation", DifferenceKind::elsewhere,
     [](const Subject& s) { return given(s, "train.evaluation.every", "evaluation in the loop"); },
     k_program},
    {"train.save", DifferenceKind::elsewhere,
     [](const Subject& s) { return given(s, "train.save.every", "checkpoints in the loop"); }, k_program},
    {"train.steps", DifferenceKind::elsewhere,
     [](const Subject& s) { return given(s, "train.steps", "the loop's length"); }, k_program},
    {"train.epochs", DifferenceKind::elsewhere,
     [](const Subject& s) { return given(s, "train.epochs", "the loop's length"); }, k_program},
    {"launch.env", DifferenceKind::elsewhere, environment_line, k_environment},
    {"cluster.allocator.conf", DifferenceKind::elsewhere, allocator_line, k_environment},
};

constexpr SettingRule unspoken(std::string_view setting) {
  return {setting, DifferenceKind::elsewhere, nullptr, {}};
}

constexpr SettingRule k_launched_rules[] = {
    unspoken("cluster.nodes"),
    unspoken("cluster.gpus_per_node"),
    unspoken("cluster.device"),
    unspoken("launch.master"),
};

constexpr SettingRule k_unspoken_rules[] = {
    unspoken("name"),
    unspoken("description"),
    unspoken("tags"),
    unspoken("semantics"),
    unspoken("cluster.node"),
    unspoken("cluster.gpu"),
    unspoken("cluster.intra_node_link"),
    unspoken("cluster.inter_node_gbps_per_gpu"),
    unspoken("cluster.host"),
    unspoken("cluster.memory_limit"),
    unspoken("cluster.suppose"),
    unspoken("cluster.nvme.read"),
    unspoken("cluster.nvme.write"),
    unspoken("cluster.threads_per_rank"),
    unspoken("model.implementation"),
    unspoken("model.attention"),
    unspoken("model.moe"),
    unspoken("measure"),
    unspoken("limits"),
    unspoken("launch.timeout"),
    unspoken("launch.launcher"),
    unspoken("launch.interface"),
    unspoken("launch.backend"),
    unspoken("cluster.ranks"),  // those of all nodes
    // What the lines of the model, the optimizer and the data say.
    unspoken("model.config"),
    unspoken("model.weights"),
    unspoken("model.dtype"),
    unspoken("train.learning_rate"),
    unspoken("train.betas"),
    unspoken("train.epsilon"),
    unspoken("train.weight_decay"),
    unspoken("train.momentum"),
    unspoken("train.optimizer_implementation"),
    unspoken("train.order"),
    unspoken("train.data_workers"),
    unspoken("train.pin_batches"),
    unspoken("train.nan_check"),
};

}  // namespace

std::span<const SettingRule> program_rules() {
  return k_program_rules;
}

std::span<const SettingRule> launched_rules() {
  return k_launched_rules;
}

std::span<const SettingRule> unspoken_rules() {
  return k_unspoken_rules;
}

std::string adapter_arguments(const LoraSpec& lora) {
  const std::string saved =
      lora.modules_to_save.empty() ? std::string() : ", modules_to_save=" + quoted_list(lora.modules_to_save);
  return fmt::format("r={}, lora_alpha={}, lora_dropout={}, target_modules={}{}", lora.rank, lora.alpha,
                     lora.dropout, adapted_layers(lora), saved);
}

std::string optimizer_call(const ExportSubject& subject) {
  const TrainSpec& train = *subject.scenario.train;
  const std::string how = fmt::format(
      "{}=True", train.optimizer_implementation == OptimizerImplementation::fused ? "fused" : "foreach");
  const std::string implementation =
      train.optimizer_implementation == OptimizerImplementation::loop ? "foreach=False" : how;
  const std::string moments =
      fmt::format("lr={}, betas=({}, {}), eps={}, weight_decay={}, {}", train.learning_rate, train.betas[0],
                  train.betas[1], train.epsilon, train.weight_decay, implementation);
  if (train.optimizer_paged)
    return fmt::format("bitsandbytes.optim.PagedAdam{}{}(model.parameters(), lr={}, betas=({}, {}))",
                       train.optimizer == Optimizer::adam ? "" : "W",
                       train.optimizer == Optimizer::adamw_8bit ? "8bit" : "32bit", train.learning_rate,
                       train.betas[0], train.betas[1]);
  switch (train.optimizer) {
    case Optimizer::adamw: return fmt::format("torch.optim.AdamW(model.parameters(), {})", moments);
    case Optimizer::adam: return fmt::format("torch.optim.Adam(model.parameters(), {})", moments);
    case Optimizer::sgd:
      return fmt::format("torch.optim.SGD(model.parameters(), lr={}, momentum={}, weight_decay={}, {})",
                         train.learning_rate, train.momentum, train.weight_decay, implementation);
    case Optimizer::adamw_8bit:
      return fmt::format("bitsandbytes.optim.AdamW8bit(model.parameters(), lr={}, betas=({}, {}))",
                         train.learning_rate, train.betas[0], train.betas[1]);
    case Optimizer::adafactor:
      return fmt::format("transformers.Adafactor(model.parameters(), lr={})", train.learning_rate);
  }
  return {};
}

}  // namespace shardlab
