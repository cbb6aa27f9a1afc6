#include "engine/formats/accelerate/read_accelerate.h"

#include <fmt/format.h>

#include "engine/formats/accelerate/accelerate_keys.h"
#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/tools/read_table.h"
#include "engine/scenario/model_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_quiet[] = {"compute_environment",
                                        "machine_rank",
                                        "main_process_port",
                                        "rdzv_backend",
                                        "same_network",
                                        "main_training_function",
                                        "debug",
                                        "gpu_ids",
                                        "enable_cpu_affinity",
                                        "downcast_bf16",
                                        "tpu_name",
                                        "tpu_zone",
                                        "tpu_use_cluster",
                                        "tpu_use_sudo",
                                        "command_file",
                                        "commands",
                                        "tpu_vm",
                                        "tpu_env",
                                        "mpirun_config",
                                        "megatron_lm_config",
                                        "deepspeed_config.deepspeed_hostfile",
                                        "deepspeed_config.deepspeed_exclusion_filter",
                                        "deepspeed_config.deepspeed_inclusion_filter",
                                        "deepspeed_config.deepspeed_multinode_launcher",
                                        "deepspeed_config.zero3_init_flag"};

constexpr std::string_view k_said[] = {"fp16",
                                       "dynamo_backend",
                                       "dynamo_config",
                                       "fsdp_config.fsdp_version",
                                       "deepspeed_config.deepspeed_config_file",
                                       "deepspeed_config.zero_stage",
                                       "deepspeed_config.offload_optimizer_device",
                                       "deepspeed_config.offload_param_device",
                                       "deepspeed_config.offload_optimizer_nvme_path",
                                       "deepspeed_config.offload_param_nvme_path",
                                       "deepspeed_config.gradient_accumulation_steps",
                                       "deepspeed_config.gradient_clipping",
                                       "deepspeed_config.zero3_save_16bit_model"};

UnreadVerdict judge(const ImportSubject& s, std::string_view key, const ForeignValue&) {
  if (is_among(k_said, key)) return {UnreadKind::said};
  if (is_among(k_quiet, key)) return {UnreadKind::quiet};
  if (key.starts_with("parallelism_config.") && fsdp_version(s) == 2)
    return {UnreadKind::quiet, "of a dimension of size 1"};
  if (key.starts_with("fp8_config")) {
    const ForeignValue* const mixed = s.in_accelerate("mixed_precision");
    static constexpr std::string_view k_fp8 = "fp8";
    if (mixed == nullptr || mixed->text.compare(k_fp8) != 0)
      return {UnreadKind::quiet, "mixed_precision is not fp8"};
  }
  return {};
}

void put(ImportReading& reading, std::string key, std::string value, const ForeignValue* from,
         std::string name) {
  ImportedSetting setting;
  setting.key = std::move(key);
  setting.value = yaml_scalar(std::move(value));
  if (from != nullptr) setting.value.place = from->place;
  setting.from = std::move(name);
  reading.set(std::move(setting));
}

// Outside FSDP mixed precision is autocast alone.
void read_autocast(const ImportSubject& s, ImportReading& reading) {
  const AccelerateKind kind = accelerate_kind(s);
  const auto dtype = mixed_dtype(s);
  if (!dtype || (kind != AccelerateKind::replicas && kind != AccelerateKind::one_process)) return;
  const ForeignValue* const from = s.in_accelerate("mixed_precision");
  put(reading, "precision.autocast", std::string(to_string(*dtype)), from == nullptr ? s.accelerate : from,
      "mixed_precision");
}

// Without process groups of its own every node is a replica.
void read_replicas(const ImportSubject& s, ImportReading& reading) {
  const ImportedSetting* const sharding = reading.find("parallel.sharding");
  if (sharding == nullptr || !sharding->is_set) return;
  const auto meant = parse_word<Fsdp1Sharding>(sharding->value.text);
  const bool hybrid = meant == Fsdp1Sharding::hybrid_shard || meant == Fsdp1Sharding::hybrid_shard_zero2;
  if (hybrid)
    put(reading, "parallel.mesh.replicate", std::to_string(machines(s)), s.in_accelerate("num_machines"),
        "num_machines");
}

void read_ranks_on_processors(const ImportSubject& s, ImportReading& reading) {
  if (!flag_of(s.in_accelerate("use_cpu"), false)) return;
  if (const auto all = processes(s))
    put(reading, "cluster.ranks", std::to_string(*all), s.in_accelerate("num_processes"), "num_processes");
}

void read_compilation(const ImportSubject& s, ImportReading& reading) {
  const ForeignValue* backend = s.in_accelerate("dynamo_config.dynamo_backend");
  if (backend == nullptr) backend = s.in_accelerate("dynamo_backend");
  static constexpr std::string_view k_off = "NO", k_off_too = "no";
  if (backend == nullptr || backend->text.compare(k_off) == 0 || backend->text.compare(k_off_too) == 0)
    return;
  const bool blocks = flag_of(s.in_accelerate("dynamo_config.dynamo_use_regional_compilation"), false);
  put(reading, "model.compile", std::string(to_string(blocks ? CompileScope::blocks : CompileScope::whole)),
      backend, "dynamo_config.dynamo_backend");
}

ForeignEntry entry(std::string key, ForeignValue value) {
  return {std::move(key), value.place, std::move(value)};
}

class PluginConfig {
 public:
  explicit PluginConfig(const ImportSubject& s) : s_(s) {}

  ForeignValue make() {
    ForeignValue root = foreign_map(s_.accelerate->place);
    root.entries.push_back(entry("train_batch_size", automatic()));
    root.entries.push_back(entry("train_micro_batch_size_per_gpu", automatic()));
    root.entries.push_back(
        entry("gradient_accumulation_steps", of("gradient_accumulation_steps").value_or(automatic())));
    root.entries.push_back(entry("gradient_clipping", of("gradient_clipping").value_or(automatic())));
    root.entries.push_back(entry("zero_optimization", zero()));
    for (const auto& [section, dtype] :
         {std::pair{"bf16", DType::bfloat16}, std::pair{"fp16", DType::float16}}) {
      ForeignValue map = foreign_map(s_.accelerate->place);
      ForeignValue enabled = *json_scalar(mixed_dtype(s_) == dtype ? "true" : "false");
      const ForeignValue* const mixed = s_.in_accelerate("mixed_precision");
      enabled.place = mixed == nullptr ? s_.accelerate->place : mixed->place;
      map.entries.push_back(entry("enabled", std::move(enabled)));
      root.entries.push_back(entry(section, std::move(map)));
    }
    return root;
  }

 private:
  std::optional<ForeignValue> of(std::string_view key) const {
    const ForeignValue* const value = s_.in_accelerate(fmt::format("deepspeed_config.{}", key));
    return value == nullptr || value->is_null() ? std::nullopt : std::optional(*value);
  }
  ForeignValue automatic() const { return foreign_text("auto", in_file(s_.accelerate->place.file)); }

  ForeignValue zero() const {
    ForeignValue map = foreign_map(s_.accelerate->place);
    ForeignValue stage = *json_scalar("2");
    stage.place = in_file(s_.accelerate->place.file);
    map.entries.push_back(entry("stage", of("zero_stage").value_or(std::move(stage))));
    for (const char* what : {"optimizer", "param"}) {
      ForeignValue section = foreign_map(s_.accelerate->place);
      if (auto device = of(fmt::format("offload_{}_device", what)))
        section.entries.push_back(entry("device", *std::move(device)));
      if (auto path = of(fmt::format("offload_{}_nvme_path", what)))
        section.entries.push_back(entry("nvme_path", *std::move(path)));
      map.entries.push_back(entry(fmt::format("offload_{}", what), std::move(section)));
    }
    if (auto gathers = of("zero3_save_16bit_model"))
      map.entries.push_back(entry("stage3_gather_16bit_weights_on_model_save", *std::move(gathers)));
    return map;
  }

  const ImportSubject& s_;
};

}  // namespace

const ForeignValue* deepspeed_file_key(const ImportSubject& subject) {
  const ForeignValue* const file = subject.in_accelerate("deepspeed_config.deepspeed_config_file");
  static constexpr std::string_view k_none = "none";
  return file == nullptr || !file->is_text() || file->text.compare(k_none) == 0 ? nullptr : file;
}

ForeignValue plugin_config(const ImportSubject& subject) {
  return PluginConfig(subject).make();
}

void read_accelerate(const ImportSubject& subject, ImportReading& reading) {
  const AccelerateKind kind = accelerate_kind(subject);
  std::vector<ToolTable> tables{{accelerate_keys(), nullptr}};
  if (kind == AccelerateKind::fsdp && !trainer_has_fsdp(subject))
    tables.push_back({accelerate_fsdp_keys(), nullptr, "fsdp_config"});
  read_tables(tables, *subject.accelerate, subject, reading);
  read_autocast(subject, reading);
  read_replicas(subject, reading);
  read_ranks_on_processors(subject, reading);
  read_compilation(subject, reading);
  list_unread(
      tables, *subject.accelerate,
      [&](std::string_view key, const ForeignValue& value) { return judge(subject, key, value); }, reading);
}

}  // namespace shardlab
