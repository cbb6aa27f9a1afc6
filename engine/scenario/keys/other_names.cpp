#include "engine/scenario/keys/other_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>

#include "engine/scenario/keys/sections.h"

namespace shardlab {
namespace {

constexpr auto k_keys = std::to_array<OtherName>({
    {"ac", "activation.checkpoint"},
    {"accumulation_steps", "train.accumulation"},
    {"activation_checkpointing", "activation.checkpoint"},
    {"activation_offloading", "activation.offload"},
    {"adam_beta1", "train.betas"},
    {"adam_epsilon", "train.epsilon"},
    {"adapter", "model.lora"},
    {"adapters", "model.lora"},
    {"attn", "model.attention"},
    {"attn_implementation", "model.attention"},
    {"batch", "train.micro_batch"},
    {"batch_size", "train.micro_batch"},
    {"block_size", "model.sequence_length"},
    {"bs", "train.micro_batch"},
    {"bucket_cap_mb", "parallel.ddp.bucket_size"},
    {"clip_grad_norm", "train.clip_norm"},
    {"compile", "model.compile"},
    {"context", "model.sequence_length"},
    {"context_length", "model.sequence_length"},
    {"cpu_offload", "offload.parameters"},
    {"ctx_len", "model.sequence_length"},
    {"cutoff_len", "model.sequence_length"},
    {"data_parallel_size", "parallel.mesh.shard"},
    {"deepspeed_config", "parallel.zero"},
    {"device_batch_size", "train.micro_batch"},
    {"dp", "parallel.mesh.shard"},
    {"dp_replicate", "parallel.mesh.replicate"},
    {"dp_shard", "parallel.mesh.shard"},
    {"ep", "parallel.mesh.expert"},
    {"flash_attention", "model.attention"},
    {"float8", "model.fp8"},
    {"fsdp", "parallel.strategy"},
    {"ga", "train.accumulation"},
    {"gbs", "train.accumulation"},
    {"gbs", "train.micro_batch"},
    {"global_batch", "train.accumulation"},
    {"global_batch", "train.micro_batch"},
    {"global_batch_size", "train.accumulation"},
    {"global_batch_size", "train.micro_batch"},
    {"gpu_memory", "cluster.memory_limit"},
    {"gpus", "cluster.gpus_per_node"},
    {"grad_acc", "train.accumulation"},
    {"grad_accum", "train.accumulation"},
    {"grad_accumulation", "train.accumulation"},
    {"gradient_accumulation", "train.accumulation"},
    {"gradient_accumulation_steps", "train.accumulation"},
    {"gradient_checkpointing", "activation.checkpoint"},
    {"gradient_clipping", "train.clip_norm"},
    {"hidden_size", "model.overrides"},
    {"instance", "cluster.node"},
    {"instance_type", "cluster.node"},
    {"liger", "model.loss"},
    {"limit_all_gathers", "parallel.prefetch.limit_all_gathers"},
    {"load_in_4bit", "model.quantized"},
    {"load_in_8bit", "model.quantized"},
    {"local_batch_size", "train.micro_batch"},
    {"lr", "train.learning_rate"},
    {"lr_scheduler", "train.schedule"},
    {"max_grad_norm", "train.clip_norm"},
    {"max_length", "model.sequence_length"},
    {"max_seq_len", "model.sequence_length"},
    {"max_seq_length", "model.sequence_length"},
    {"max_steps", "train.steps"},
    {"mbs", "train.micro_batch"},
    {"micro_batch_size", "train.micro_batch"},
    {"micro_bs", "train.micro_batch"},
    {"mixed_precision", "precision.param"},
    {"model_name", "model.config"},
    {"model_name_or_path", "model.config"},
    {"nnodes", "cluster.nodes"},
    {"nproc_per_node", "cluster.gpus_per_node"},
    {"num_epochs", "train.epochs"},
    {"num_gpus", "cluster.gpus_per_node"},
    {"num_machines", "cluster.nodes"},
    {"num_nodes", "cluster.nodes"},
    {"num_processes", "cluster.gpus_per_node"},
    {"num_train_epochs", "train.epochs"},
    {"num_workers", "train.data_workers"},
    {"offload_optimizer", "offload.optimizer"},
    {"offload_param", "offload.parameters"},
    {"optim", "train.optimizer"},
    {"param_dtype", "precision.param"},
    {"peft", "model.lora"},
    {"per_device_train_batch_size", "train.micro_batch"},
    {"quantization", "model.quantized"},
    {"recompute", "activation.checkpoint"},
    {"reduce_dtype", "precision.reduce"},
    {"reshard", "parallel.reshard_after_forward"},
    {"seq", "model.sequence_length"},
    {"seq_len", "model.sequence_length"},
    {"seq_length", "model.sequence_length"},
    {"seqlen", "model.sequence_length"},
    {"sharding_strategy", "parallel.sharding"},
    {"stage", "parallel.strategy"},
    {"teacher", "distillation.teacher"},
    {"teacher_model", "distillation.teacher"},
    {"tensor_parallel_size", "parallel.mesh.tensor"},
    {"torch_compile", "model.compile"},
    {"torch_dtype", "model.dtype"},
    {"tp", "parallel.mesh.tensor"},
    {"train_batch_size", "train.accumulation"},
    {"train_batch_size", "train.micro_batch"},
    {"train_micro_batch_size_per_gpu", "train.micro_batch"},
    {"use_flash_attention", "model.attention"},
    {"use_liger_kernel", "model.loss"},
    {"vram", "cluster.memory_limit"},
    {"warmup_steps", "train.schedule.warmup_steps"},
    {"world_size", "cluster.gpus_per_node"},
    {"zero_optimization", "parallel.zero"},
    {"zero_stage", "parallel.strategy"},
});

constexpr auto k_other_words = std::to_array<OtherName>({
    {"4bit", "nf4"},
    {"8bit", "int8"},
    {"adamw_bnb_8bit", "adamw_8bit"},
    {"adamw_hf", "adamw"},
    {"adamw_torch", "adamw"},
    {"adamw_torch_fused", "adamw"},
    {"bf16", "bfloat16"},
    {"bfloat", "bfloat16"},
    {"block", "full"},
    {"cosine_schedule", "cosine"},
    {"false", "none"},
    {"flash_attention_2", "flash"},
    {"flash_attention_3", "flash3"},
    {"float", "float32"},
    {"fp16", "float16"},
    {"fp32", "float32"},
    {"half", "float16"},
    {"host", "cpu"},
    {"int4", "nf4"},
    {"no", "none"},
    {"off", "none"},
    {"on", "full"},
    {"on", "whole"},
    {"paged_adamw_8bit", "adamw_8bit"},
    {"sdpa", "auto"},
    {"torch.bfloat16", "bfloat16"},
    {"torch.float16", "float16"},
    {"torch.float32", "float32"},
    {"true", "full"},
    {"true", "whole"},
    {"yes", "full"},
    {"yes", "whole"},
});

std::string plain(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::tolower(c)); });
  return result;
}

// A product of several keys, as a global batch is, has several.
std::vector<std::string> ours_of(std::span<const OtherName> names, std::string_view theirs) {
  std::vector<std::string> ours;
  for (const OtherName& each : names)
    if (each.theirs == theirs) ours.emplace_back(each.ours);
  return ours;
}

// Every key and every section on the way to one, but for what lies in lists and the teacher's copies.
const std::set<std::string>& all_paths() {
  static const std::set<std::string> paths = [] {
    std::vector<KeyLine> lines;
    describe_section(scenario_keys(), {}, lines);
    std::set<std::string> result;
    for (const KeyLine& line : lines) {
      if (line.path.find("[]") != std::string::npos || line.path.starts_with("distillation.")) continue;
      for (std::size_t dot = line.path.find('.'); dot != std::string::npos;
           dot = line.path.find('.', dot + 1))
        result.insert(line.path.substr(0, dot));
      result.insert(line.path);
    }
    return result;
  }();
  return paths;
}

}  // namespace

std::span<const OtherName> other_key_names() {
  return k_keys;
}

std::vector<std::string> meant_keys(std::string_view key) {
  const std::string name = plain(key);
  std::vector<std::string> meant = ours_of(k_keys, name);
  for (const std::string& path : all_paths())
    if (path.substr(path.rfind('.') + 1) == name &&
        std::find(meant.begin(), meant.end(), path) == meant.end())
      meant.push_back(path);
  return meant;
}

std::string meant_word(std::string_view text, const std::vector<std::string>& known) {
  const std::string word = plain(text);
  const auto has = [&](std::string_view each) {
    return std::find(known.begin(), known.end(), each) != known.end();
  };
  if (has(word)) return word;
  for (const OtherName& each : k_other_words)
    if (each.theirs == word && has(each.ours)) return std::string(each.ours);
  return {};
}

// float8_e4m3fn, fp8, torch.float8_e5m2.
std::string setting_instead(std::string_view dtype) {
  const std::string name = plain(dtype);
  const bool is_float8 = name.find("fp8") != std::string::npos || name.find("float8") != std::string::npos;
  return is_float8 ? "products in float8 are model.fp8, beside weights of another type" : "";
}

}  // namespace shardlab
