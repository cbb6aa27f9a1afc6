#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "engine/formats/deepspeed/deepspeed_settings.h"
#include "engine/formats/deepspeed/deepspeed_target.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

// Its default clips at 1, so that no clipping has to be said.
ToolValue clipping(const Subject& s) {
  return s.scenario.train->clip_norm.value_or(0);
}

ToolValue if_computed_in(const Subject& s, DType dtype) {
  return compute_dtype(s) == dtype ? ToolValue(true) : nullptr;
}

template <auto Make>
ToolValue with_float16(const Subject& s) {
  return compute_dtype(s) == DType::float16 ? ToolValue(Make(*s.scenario.scaler)) : nullptr;
}

// 0: dynamic.
double loss_scale(const ScalerSpec& scaler) {
  if (!scaler.enabled.value_or(true)) return 1;
  return scaler.dynamic ? 0 : scaler.initial_scale;
}

// What has DeepSpeed's default is not written.
ToolValue hysteresis(const Subject& s) {
  const auto given = s.scenario.scaler->hysteresis;
  return compute_dtype(s) == DType::float16 && given ? ToolValue(*given) : nullptr;
}
ToolValue consecutive_hysteresis(const Subject& s) {
  return s.scenario.scaler->consecutive_hysteresis ? ToolValue(true) : nullptr;
}
ToolValue minimum_scale(const Subject& s) {
  const double minimum = s.scenario.scaler->minimum;
  return minimum != ScalerSpec{}.minimum ? ToolValue(minimum) : nullptr;
}

int scale_power(const ScalerSpec& scaler) {
  return static_cast<int>(std::lround(std::log2(scaler.initial_scale)));
}

ToolValue accumulated_in(const Subject& s) {
  const auto dtype = zero_options(s.scenario).grad_accum_dtype;
  if (!dtype) return nullptr;
  return *dtype == DType::float32 ? "fp32" : *dtype == DType::bfloat16 ? "bf16" : "fp16";
}

ToolValue communicated_in(const Subject& s) {
  const auto dtype = zero_options(s.scenario).communication_data_type;
  if (!dtype) return nullptr;
  return *dtype == DType::float32 ? "fp32" : *dtype == DType::bfloat16 ? "bf16" : "fp16";
}

template <OffloadTarget OffloadSpec::*Target>
bool is_offloaded(const Subject& s) {
  return (*s.scenario.offload).*Target != OffloadTarget::none;
}

// Inside the sections of what is offloaded.
template <OffloadTarget OffloadSpec::*Target>
ToolValue device(const Subject& s) {
  return is_offloaded<Target>(s) ? ToolValue(to_string((*s.scenario.offload).*Target)) : nullptr;
}

template <OffloadTarget OffloadSpec::*Target>
ToolValue pinned(const Subject& s) {
  return is_offloaded<Target>(s) ? ToolValue(s.scenario.offload->pin) : nullptr;
}

template <OffloadTarget OffloadSpec::*Target>
ToolValue drive(const Subject& s) {
  const bool on_drive = (*s.scenario.offload).*Target == OffloadTarget::nvme;
  return on_drive ? ToolValue(s.scenario.cluster->nvme.path) : nullptr;
}

template <OffloadTarget OffloadSpec::*Target>
ToolValue buffers(const Subject& s) {
  const bool on_drive = (*s.scenario.offload).*Target == OffloadTarget::nvme;
  const bool given = on_drive && s.scenario.offload->buffers > 0;
  return given ? ToolValue(s.scenario.offload->buffers) : nullptr;
}

// What overlaps, where the optimizer's state lies on a drive.
template <bool OffloadSpec::*Overlaps>
ToolValue overlap(const Subject& s) {
  return (*s.scenario.offload).*Overlaps ? ToolValue(true) : nullptr;
}

ToolValue block_size(const Subject& s) {
  const Bytes size = s.scenario.offload->aio.block_size;
  return size == DriveSpec{}.block_size ? nullptr : ToolValue(size.value);
}

template <int DriveSpec::*Number>
ToolValue drive_number(const Subject& s) {
  const int number = s.scenario.offload->aio.*Number;
  return number == DriveSpec{}.*Number ? nullptr : ToolValue(number);
}

ToolValue ratio(const Subject& s) {
  const bool partly = is_offloaded<&OffloadSpec::optimizer>(s) && s.scenario.offload->ratio != 1;
  return partly ? ToolValue(s.scenario.offload->ratio) : nullptr;
}

// In host memory DeepSpeed refuses every optimizer but its own, unless it is told not to.
ToolValue takes_any_on_host(const Subject& s) {
  return is_offloaded<&OffloadSpec::optimizer>(s) ? ToolValue(false) : nullptr;
}

ToolValue zero_section(const Subject& s) {
  ToolValue section{{"stage", facts_of(s.scenario).zero_stage}};
  for (const auto& [key, value] : zero_settings(s.scenario)) {
    if (key == "grad_accum_dtype" || key == "communication_data_type") continue;
    ToolValue parsed = ToolValue::parse(value, nullptr, false);
    section[key] = parsed.is_discarded() ? ToolValue(value) : std::move(parsed);
  }
  return section;
}

constexpr auto k_parameters = &OffloadSpec::parameters;
constexpr auto k_optimizer = &OffloadSpec::optimizer;

constexpr ToolKey k_keys[] = {
    {"train_micro_batch_size_per_gpu", "train.micro_batch",
     [](const Subject& s) -> ToolValue { return s.scenario.train->micro_batch; },
     "train_batch_size / (accumulation x ranks)", read_micro_batch},
    {"gradient_accumulation_steps", "train.accumulation",
     [](const Subject& s) -> ToolValue { return s.scenario.train->accumulation; }, "1", read_accumulation},
    {"gradient_clipping", "train.clip_norm", clipping, "1.0", read_clipping},
    {"bf16.enabled", "precision.param", [](const Subject& s) { return if_computed_in(s, DType::bfloat16); },
     "false", read_bfloat16},
    {"fp16.enabled", "precision.param", [](const Subject& s) { return if_computed_in(s, DType::float16); },
     "false", read_float16},
    {"fp16.loss_scale", "scaler.dynamic", with_float16<loss_scale>, "0: dynamic", read_scaler_use},
    {"fp16.initial_scale_power", "scaler.initial_scale", with_float16<scale_power>, "16", read_initial_scale},
    {"fp16.loss_scale_window", "scaler.interval",
     with_float16<[](const ScalerSpec& scaler) { return scaler.interval.value_or(1000); }>, "1000",
     read_scale_window},
    {"fp16.hysteresis", "scaler.hysteresis", hysteresis, "2", read_hysteresis},
    {"fp16.consecutive_hysteresis", "scaler.consecutive_hysteresis", consecutive_hysteresis, "false",
     read_consecutive_hysteresis},
    {"fp16.min_loss_scale", "scaler.minimum", minimum_scale, "1", read_minimum_scale},
    {"data_types.grad_accum_dtype", "", accumulated_in, "the dtype of the parameters"},
    {"communication_data_type", "", communicated_in, "the dtype of the parameters"},
    {"zero_optimization", "parallel.zero", zero_section, "stage 0", read_zero_section},
    {"zero_optimization.offload_param.device", "offload.parameters", device<k_parameters>, "none",
     read_device<k_param_section>},
    {"zero_optimization.offload_param.pin_memory", "offload.pin", pinned<k_parameters>, "true",
     read_pinned<k_param_section>},
    {"zero_optimization.offload_param.nvme_path", "cluster.nvme.path", drive<k_parameters>, "an error",
     read_drive<k_param_section>},
    {"zero_optimization.offload_param.buffer_count", "offload.buffers", buffers<k_parameters>, "5",
     read_buffers<k_param_section>},
    {"zero_optimization.offload_optimizer.device", "offload.optimizer", device<k_optimizer>, "none",
     read_device<k_optimizer_section>},
    {"zero_optimization.offload_optimizer.pin_memory", "offload.pin", pinned<k_optimizer>, "true",
     read_pinned<k_optimizer_section>},
    {"zero_optimization.offload_optimizer.nvme_path", "cluster.nvme.path", drive<k_optimizer>, "an error",
     read_drive<k_optimizer_section>},
    {"zero_optimization.offload_optimizer.buffer_count", "offload.buffers", buffers<k_optimizer>, "4",
     read_buffers<k_optimizer_section>},
    {"zero_optimization.offload_optimizer.pipeline_read", "offload.pipeline_read",
     overlap<&OffloadSpec::pipeline_read>, "false", read_overlap},
    {"zero_optimization.offload_optimizer.pipeline_write", "offload.pipeline_write",
     overlap<&OffloadSpec::pipeline_write>, "false", read_overlap},
    {"aio.block_size", "offload.aio.block_size", block_size, "1048576", read_drive_number},
    {"aio.queue_depth", "offload.aio.queue_depth", drive_number<&DriveSpec::queue_depth>, "8",
     read_drive_number},
    {"aio.intra_op_parallelism", "offload.aio.threads", drive_number<&DriveSpec::threads>, "1",
     read_drive_number},
    {"zero_optimization.offload_optimizer.ratio", "offload.ratio", ratio, "1.0", read_ratio},
    // The optimizer is the program's, not one that DeepSpeed would make.
    {"zero_allow_untested_optimizer", "", [](const Subject&) -> ToolValue { return true; }, "false"},
    {"zero_force_ds_cpu_optimizer", "", takes_any_on_host, "true"},
};

}  // namespace

std::span<const ToolKey> deepspeed_keys() {
  return k_keys;
}

ExportedFile deepspeed_file(const ExportSubject& subject) {
  return {subject.stem + ".deepspeed.json",
          tool_tree(std::array{ToolTable{k_keys, nullptr}}, subject).dump(2) + "\n"};
}

}  // namespace shardlab
