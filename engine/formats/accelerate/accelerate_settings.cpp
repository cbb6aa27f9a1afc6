#include "engine/formats/accelerate/accelerate_settings.h"

#include <fmt/format.h>

#include "engine/formats/accelerate/fsdp_settings.h"
#include "engine/hardware/device_kind.h"
#include "engine/model/wrap/wrap_spec.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_usual_least = 100'000'000;

std::int64_t least_of(const ImportSubject& s) {
  const ForeignValue* const least = s.in_accelerate("fsdp_config.fsdp_min_num_params");
  return least != nullptr && least->is_integer() ? least->integer : k_usual_least;
}

std::optional<DType> dtype_called(const ForeignValue* value) {
  static constexpr std::pair<std::string_view, DType> k_known[] = {
      {"bf16", DType::bfloat16}, {"fp16", DType::float16}, {"fp8", DType::bfloat16}};
  for (const auto& [word, dtype] : k_known) {
    if (value != nullptr && value->is_text() && word.compare(value->text) == 0) return dtype;
  }
  return std::nullopt;
}

bool uses_cpu(const ImportSubject& s) {
  return flag_of(s.in_accelerate("use_cpu"), false);
}

}  // namespace

AccelerateKind accelerate_kind(const ImportSubject& s) {
  struct Known {
    std::string_view word;
    AccelerateKind kind;
  };
  static constexpr Known k_known[] = {{"NO", AccelerateKind::one_process},
                                      {"MULTI_GPU", AccelerateKind::replicas},
                                      {"MULTI_CPU", AccelerateKind::replicas},
                                      {"FSDP", AccelerateKind::fsdp},
                                      {"DEEPSPEED", AccelerateKind::deepspeed}};
  const ForeignValue* const type = s.in_accelerate("distributed_type");
  for (const Known& known : k_known) {
    if (type != nullptr && known.word.compare(type->text) == 0) return known.kind;
  }
  return AccelerateKind::other;
}

std::int64_t machines(const ImportSubject& s) {
  const ForeignValue* const value = s.in_accelerate("num_machines");
  return value != nullptr && value->is_integer() ? value->integer : 1;
}

// With distributed_type NO one process starts, whatever the number.
std::optional<std::int64_t> processes(const ImportSubject& s) {
  if (accelerate_kind(s) == AccelerateKind::one_process) return 1;
  const ForeignValue* const value = s.in_accelerate("num_processes");
  if (value != nullptr && value->is_integer() && value->integer > 0) return value->integer;
  return std::nullopt;
}

std::optional<DType> mixed_dtype(const ImportSubject& s) {
  if (flag_of(s.in_trainer("bf16"), false)) return DType::bfloat16;
  if (flag_of(s.in_trainer("fp16"), false)) return DType::float16;
  const ForeignValue* const mixed = s.in_accelerate("mixed_precision");
  if (mixed != nullptr && !mixed->is_null()) return dtype_called(mixed);
  return flag_of(s.in_accelerate("fp16"), false) ? std::optional(DType::float16) : std::nullopt;
}

ReadBack read_distributed_type(const ImportSubject& s, const ForeignValue*) {
  switch (accelerate_kind(s)) {
    case AccelerateKind::one_process: return set_setting(strategy_of(Framework::none));
    case AccelerateKind::replicas: return set_setting(strategy_of(Framework::ddp));
    case AccelerateKind::fsdp:
      return set_setting(strategy_of(fsdp_version(s) == 1 ? Framework::fsdp1 : Framework::fsdp2));
    case AccelerateKind::deepspeed:
    case AccelerateKind::other: return leave_setting();
  }
  return leave_setting();
}

ReadBack read_mixed_precision(const ImportSubject& s, const ForeignValue*) {
  if (accelerate_kind(s) == AccelerateKind::deepspeed) return leave_setting();
  const auto dtype = mixed_dtype(s);
  if (!dtype || accelerate_kind(s) != AccelerateKind::fsdp) return unset_setting();
  return set_setting(std::string(to_string(*dtype)));
}

ReadBack read_machines(const ImportSubject& s, const ForeignValue* value) {
  return uses_cpu(s) || (value == nullptr && !processes(s)) ? leave_setting() : same_value(s, value);
}

ReadBack read_processes(const ImportSubject& s, const ForeignValue*) {
  const auto all = processes(s);
  if (!all || uses_cpu(s)) return leave_setting();
  return set_setting(std::to_string(*all / machines(s)));
}

ReadBack read_master(const ImportSubject& s, const ForeignValue* value) {
  if (value == nullptr || !value->is_text() || value->flag) return leave_setting();
  const ForeignValue* const port = s.in_accelerate("main_process_port");
  const bool given = port != nullptr && port->is_integer() && port->integer > 0;
  return set_setting(fmt::format("{}:{}", value->text, given ? port->integer : 29500));
}

ReadBack read_use_cpu(const ImportSubject& s, const ForeignValue* value) {
  if (!uses_cpu(s)) return value == nullptr ? leave_setting() : unset_setting();
  return set_setting(std::string(to_string(DeviceKind::cpu)));
}

ReadBack read_mesh_size(const ImportSubject&, const ForeignValue* value) {
  if (value == nullptr || !value->is_integer()) return unset_setting();
  return set_setting(std::to_string(value->integer));
}

ReadBack read_accelerate_policy(const ImportSubject& s, const ForeignValue* value) {
  return read_policy(value, "NO_WRAP", least_of(s));
}

ReadBack read_accelerate_least(const ImportSubject& s, const ForeignValue* value) {
  const ReadBack policy = read_accelerate_policy(s, s.in_accelerate("fsdp_config.fsdp_auto_wrap_policy"));
  if (policy.value.text.compare(to_string(WrapPolicyKind::size)) != 0 || value == nullptr)
    return unset_setting();
  return same_value(s, value);
}

ReadBack read_accelerate_loading(const ImportSubject&, const ForeignValue* value) {
  return read_loading(value, true);
}

ReadBack read_accelerate_state_dict(const ImportSubject& s, const ForeignValue* value) {
  return read_state_dict(value, fsdp_version(s) == 2 ? CheckpointType::sharded : CheckpointType::full);
}

// Beside a loading on rank 0 it says nothing more.
ReadBack read_accelerate_sync(const ImportSubject& s, const ForeignValue* value) {
  if (fsdp_version(s) != 1) return leave_setting();
  const bool loads_once = flag_of(s.in_accelerate("fsdp_config.fsdp_cpu_ram_efficient_loading"), true);
  return !loads_once && flag_of(value, false) ? set_setting("true") : unset_setting();
}

}  // namespace shardlab
