#include <algorithm>

#include <fmt/format.h>

#include "engine/formats/accelerate/accelerate_settings.h"
#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/formats/accelerate/read_accelerate.h"

namespace shardlab {
namespace {

class AccelerateChecker {
 public:
  AccelerateChecker(const ImportSubject& subject, Problems& problems, ImportReading& reading)
      : s_(subject), problems_(problems), reading_(reading), kind_(accelerate_kind(subject)) {}

  void check() {
    check_kind();
    check_processes();
    check_sections();
    if (kind_ == AccelerateKind::fsdp && !trainer_has_fsdp(s_)) check_fsdp();
    if (kind_ == AccelerateKind::deepspeed) check_deepspeed_fields();
    check_meshes();
  }

 private:
  const ForeignValue* at(const std::string& key) const { return s_.in_accelerate(key); }
  const ForeignValue* fsdp(const std::string& key) const { return at("fsdp_config.fsdp_" + key); }
  void warn(const Place& place, std::string what, std::string hint, ErrorCode code = ErrorCode::none) {
    reading_.warnings.push_back({place, std::move(what), std::move(hint), code});
  }

  void check_kind() {
    const ForeignValue* const type = at("distributed_type");
    static constexpr std::string_view k_sagemaker = "AMAZON_SAGEMAKER";
    if (const ForeignValue* const where = at("compute_environment");
        where != nullptr && where->text.compare(k_sagemaker) == 0)
      problems_.add(where->place, "SageMaker starts the ranks: a scenario has no counterpart", {},
                    ErrorCode::no_counterpart);
    if (type == nullptr) {
      problems_.add(in_file(s_.accelerate->place.file), "distributed_type is missing, accelerate requires it",
                    "FSDP, DEEPSPEED, MULTI_GPU, MULTI_CPU or NO");
    } else if (type->is_text() && kind_ == AccelerateKind::other) {
      problems_.add(type->place,
                    fmt::format("distributed_type: a scenario has no counterpart of {}", type->text),
                    "FSDP, DEEPSPEED, MULTI_GPU, MULTI_CPU or NO", ErrorCode::no_counterpart);
    }
    if (kind_ == AccelerateKind::fsdp && flag_of(at("use_cpu"), false))
      problems_.add(
          at("use_cpu")->place,
          "use_cpu: accelerate 1.15 shards on accelerators alone, on processors it would train replicas",
          "distributed_type: MULTI_CPU says so");
  }

  void check_processes() {
    const ForeignValue* const count = at("num_processes");
    const auto all = processes(s_);
    if (!all && (s_.onto == nullptr && !s_.ranks) && kind_ != AccelerateKind::other)
      problems_.add(count == nullptr ? in_file(s_.accelerate->place.file) : count->place,
                    "num_processes is not said, without it the launch fails",
                    "the number of ranks of all machines, or --onto S", ErrorCode::unsaid);
    if (!all) return;
    if (kind_ == AccelerateKind::one_process) {
      if (count != nullptr && count->is_integer() && count->integer > 1)
        warn(count->place, "distributed_type NO starts one process, whatever num_processes says",
             "distributed_type: MULTI_GPU", ErrorCode::no_effect);
      return;
    }
    if (*all % machines(s_) != 0)
      problems_.add(count == nullptr ? at("num_machines")->place : count->place,
                    fmt::format("num_processes {} is of all machines, and {} machines do not divide it", *all,
                                machines(s_)),
                    {}, ErrorCode::inconsistent_launch);
    const ForeignValue* const rank = at("machine_rank");
    if (rank != nullptr && rank->is_integer() && rank->integer >= machines(s_))
      problems_.add(
          rank->place,
          fmt::format("machine_rank {} with {} machines: ranks count from 0", rank->integer, machines(s_)),
          {}, ErrorCode::inconsistent_launch);
    if (machines(s_) > 1 && at("main_process_ip") == nullptr)
      warn(at("num_machines")->place, "several machines and no main_process_ip: they do not meet",
           "give the address of the first, in the file or to accelerate launch",
           ErrorCode::incomplete_launch);
    check_gpu_ids(*all);
  }

  void check_gpu_ids(std::int64_t all) {
    const ForeignValue* const ids = at("gpu_ids");
    static constexpr std::string_view k_all = "all";
    if (ids == nullptr || ids->is_null() || (ids->is_text() && ids->text.compare(k_all) == 0)) return;
    const auto given = ids->is_text() ? std::count(ids->text.begin(), ids->text.end(), ',') + 1 : 1;
    if (given < all / machines(s_))
      problems_.add(ids->place,
                    fmt::format("gpu_ids names {} GPU{}, num_processes asks for {} on a machine", given,
                                given == 1 ? "" : "s", all / machines(s_)),
                    {}, ErrorCode::too_few_devices);
  }

  bool is_filled(const std::string& section) const {
    const ForeignValue* const value = at(section);
    return value != nullptr && value->is_map() && !value->entries.empty();
  }

  void check_sections() {
    const bool by_fsdp = is_filled("fsdp_config"), by_deepspeed = is_filled("deepspeed_config");
    if (by_fsdp && by_deepspeed)
      problems_.add(at("deepspeed_config")->place,
                    "two sharding systems at once: deepspeed_config stands beside fsdp_config",
                    fmt::format("distributed_type is {}: remove the other's section",
                                at("distributed_type") ? at("distributed_type")->text : "not said"));
    else if (by_fsdp && kind_ == AccelerateKind::deepspeed)
      problems_.add(at("fsdp_config")->place,
                    "two sharding systems at once: fsdp_config under distributed_type DEEPSPEED",
                    "distributed_type: FSDP, or a deepspeed_config");
    else if (by_deepspeed && kind_ == AccelerateKind::fsdp)
      problems_.add(at("deepspeed_config")->place,
                    "two sharding systems at once: deepspeed_config under distributed_type FSDP",
                    "distributed_type: DEEPSPEED, or an fsdp_config");
    else if ((by_fsdp && kind_ != AccelerateKind::fsdp) ||
             (by_deepspeed && kind_ != AccelerateKind::deepspeed))
      warn(at(by_fsdp ? "fsdp_config" : "deepspeed_config")->place,
           fmt::format("{} has no effect under distributed_type {}: nothing is sharded",
                       by_fsdp ? "fsdp_config" : "deepspeed_config",
                       at("distributed_type") ? at("distributed_type")->text : "?"),
           "distributed_type chooses what runs", ErrorCode::no_effect);
  }

  void check_fsdp() {
    const int version = fsdp_version(s_);
    version == 1 ? check_version_1() : check_version_2();
    const ForeignValue* const sync = fsdp("sync_module_states");
    if (sync != nullptr && !flag_of(sync, true) && flag_of(fsdp("cpu_ram_efficient_loading"), true))
      problems_.add(
          sync->place,
          "fsdp_sync_module_states: false needs fsdp_cpu_ram_efficient_loading: false: the launch fails",
          "its default is true; write both");
    check_wrapping();
    const ForeignValue* const offload = fsdp("activation_checkpointing_offload");
    if (flag_of(offload, false) && (!flag_of(fsdp("activation_checkpointing"), false) || version != 2))
      problems_.add(offload->place,
                    "fsdp_activation_checkpointing_offload needs fsdp_activation_checkpointing: true and "
                    "fsdp_version: 2");
  }

  void check_version_1() {
    const ForeignValue* const strategy = fsdp("sharding_strategy");
    const ForeignValue* const reshard = fsdp("reshard_after_forward");
    if (reshard != nullptr && strategy == nullptr && reshard->is_text() &&
        sharding_called(*reshard) != Fsdp1Sharding::full_shard)
      warn(
          reshard->place,
          fmt::format(
              "FULL_SHARD runs, not {}: under version 1 accelerate launch takes fsdp_sharding_strategy alone",
              reshard->text),
          fmt::format("fsdp_sharding_strategy: {}", reshard->text), ErrorCode::sharding_ignored);
    else if (reshard != nullptr)
      warn(reshard->place,
           fmt::format("fsdp_reshard_after_forward is not read under version 1: {} runs",
                       strategy == nullptr ? "FULL_SHARD" : strategy->text),
           "fsdp_sharding_strategy says it");
    const ForeignValue* const prefetch = fsdp("backward_prefetch");
    if (prefetch == nullptr || prefetch->is_null())
      warn(at("fsdp_config") ? at("fsdp_config")->place : s_.accelerate->place,
           "fsdp_backward_prefetch is left out: NO_PREFETCH runs, where plain FSDP has BACKWARD_PRE",
           "fsdp_backward_prefetch: BACKWARD_PRE", ErrorCode::prefetch_left_out);
  }

  void check_version_2() {
    const ForeignValue* const reshard = fsdp("reshard_after_forward");
    if (reshard != nullptr && reshard->kind != ForeignValue::Kind::boolean)
      problems_.add(
          reshard->place,
          fmt::format("fsdp_reshard_after_forward: {} is of version 1, version 2 takes true or false",
                      shown(*reshard)),
          "FULL_SHARD is true, SHARD_GRAD_OP is false");
    for (const char* key : {"sharding_strategy", "backward_prefetch", "forward_prefetch", "use_orig_params",
                            "sync_module_states"}) {
      const ForeignValue* const value = fsdp(key);
      if (value != nullptr && !value->is_null())
        warn(value->place, fmt::format("fsdp_{} is of version 1: version 2 ignores it", key),
             version_2_hint(key), ErrorCode::unread_key);
    }
    const ForeignValue* const type = fsdp("state_dict_type");
    static constexpr std::string_view k_local = "LOCAL_STATE_DICT";
    if (type != nullptr && type->is_text() && type->text.compare(k_local) == 0)
      problems_.add(type->place, "fsdp_state_dict_type: LOCAL_STATE_DICT is of version 1",
                    "SHARDED_STATE_DICT or FULL_STATE_DICT");
  }

  static std::string version_2_hint(std::string_view key) {
    static constexpr std::string_view k_strategy = "sharding_strategy";
    return key == k_strategy
               ? "fsdp_reshard_after_forward says whether parameters are given back after forward"
               : "remove it";
  }

  void check_wrapping() {
    const ForeignValue* const policy = fsdp("auto_wrap_policy");
    const ForeignValue* const classes = fsdp("transformer_layer_cls_to_wrap");
    const ForeignValue* const least = fsdp("min_num_params");
    const Place section = at("fsdp_config") ? at("fsdp_config")->place : s_.accelerate->place;
    static constexpr std::string_view k_by_size = "SIZE_BASED_WRAP", k_by_class = "TRANSFORMER_BASED_WRAP";
    if (policy == nullptr || policy->is_null()) {
      warn(classes == nullptr ? section : classes->place,
           "fsdp_auto_wrap_policy is left out: NO_WRAP runs, the whole model is one unit",
           "fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP", ErrorCode::one_unit);
      return;
    }
    if (policy->text.compare(k_by_size) == 0 && least != nullptr && least->integer == 0)
      warn(least->place, "fsdp_min_num_params: 0 takes the policy away: the whole model is one unit",
           "fsdp_min_num_params: 100000000", ErrorCode::wraps_nothing);
    if (policy->text.compare(k_by_class) != 0 && classes != nullptr && !classes->is_null())
      warn(classes->place,
           fmt::format("fsdp_transformer_layer_cls_to_wrap has no effect with {}", policy->text),
           "fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP", ErrorCode::no_effect);
    for (const std::string& name : listed_classes(classes)) {
      if (name.find_first_of(" \t") != std::string::npos || name.empty())
        problems_.add(classes->place,
                      fmt::format("'{}' is no class: names stand between commas alone, spaces count", name));
    }
  }

  bool is_said_by_command(const char* key) const {
    return s_.command != nullptr && s_.command->find(key) != nullptr;
  }

  // With a file DeepSpeed decides. Accelerate refuses a second opinion in its own file, and takes one of its
  // command where DeepSpeed's file says "auto" (DeepSpeedPlugin, _deepspeed_config_checks and fill_match).
  void check_deepspeed_fields() {
    if (deepspeed_file_key(s_) == nullptr) return;
    static constexpr std::pair<const char*, const char*> k_fields[] = {
        {"zero_stage", "zero_optimization.stage"},
        {"gradient_accumulation_steps", "gradient_accumulation_steps"},
        {"gradient_clipping", "gradient_clipping"},
        {"offload_optimizer_device", "zero_optimization.offload_optimizer.device"},
        {"offload_param_device", "zero_optimization.offload_param.device"},
        {"offload_optimizer_nvme_path", "zero_optimization.offload_optimizer.nvme_path"},
        {"offload_param_nvme_path", "zero_optimization.offload_param.nvme_path"},
        {"zero3_save_16bit_model", "zero_optimization.stage3_gather_16bit_weights_on_model_save"}};
    for (const auto& [key, of_deepspeed] : k_fields) {
      const ForeignValue* const value = at(fmt::format("deepspeed_config.{}", key));
      if (value == nullptr) continue;
      if (!is_said_by_command(key))
        refuse_beside_file(key, *value, "the DeepSpeed file says it");
      else if (!is_automatic(s_.in_deepspeed(of_deepspeed)))
        warn(value->place, fmt::format("--{} has no effect beside --deepspeed_config_file", key),
             fmt::format("accelerate takes it where the DeepSpeed file says {}: \"auto\"", of_deepspeed),
             ErrorCode::no_effect);
    }
    const ForeignValue* const mixed = at("mixed_precision");
    if (mixed != nullptr && !mixed->is_null() && !is_said_by_command("mixed_precision"))
      refuse_beside_file("mixed_precision", *mixed,
                         "bf16.enabled or fp16.enabled of the DeepSpeed file says it");
  }

  void refuse_beside_file(const char* key, const ForeignValue& value, std::string hint) {
    problems_.add(value.place,
                  fmt::format("{} stands beside deepspeed_config_file, and accelerate refuses that", key),
                  std::move(hint));
  }

  std::int64_t size_of(const std::string& name) const {
    const ForeignValue* const value = at("parallelism_config.parallelism_config_" + name);
    return value != nullptr && value->is_integer() ? value->integer : 1;
  }

  void check_meshes() {
    if (!is_filled("parallelism_config")) return;
    const ForeignValue* const section = at("parallelism_config");
    if (fsdp_version(s_) != 2 && kind_ != AccelerateKind::deepspeed) {
      problems_.add(section->place,
                    "parallelism_config is for distributed_type FSDP with fsdp_version 2, and for DEEPSPEED");
      return;
    }
    for (const char* name : {"tp_size", "cp_size", "sp_size"}) {
      if (size_of(name) > 1)
        problems_.add(at(fmt::format("parallelism_config.parallelism_config_{}", name))->place,
                      fmt::format("parallelism_config_{}: a scenario has no counterpart that runs", name),
                      "leave it at 1", ErrorCode::no_counterpart);
    }
    const auto all = processes(s_);
    const std::int64_t product = size_of("dp_replicate_size") * size_of("dp_shard_size") *
                                 size_of("tp_size") * size_of("cp_size") * size_of("sp_size");
    if (all && product != *all)
      problems_.add(section->place,
                    fmt::format("dp_replicate_size {} x dp_shard_size {} is {} ranks, num_processes says {}",
                                size_of("dp_replicate_size"), size_of("dp_shard_size"), product, *all),
                    {}, ErrorCode::inconsistent_launch);
  }

  const ImportSubject& s_;
  Problems& problems_;
  ImportReading& reading_;
  AccelerateKind kind_;
};

}  // namespace

void check_accelerate(const ImportSubject& subject, Problems& problems, ImportReading& reading) {
  AccelerateChecker(subject, problems, reading).check();
}

}  // namespace shardlab
