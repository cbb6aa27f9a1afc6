// Settings of a scenario from the keys of DeepSpeed's configuration file, with "auto" as accelerate and the
// Trainer replace it.
//
// Source: DeepSpeed 0.19.8, runtime/config.py; accelerate 1.15.0, accelerator.py (_prepare_deepspeed);
// transformers 5.23.0, integrations/deepspeed.py (HfTrainerDeepSpeedConfig).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/formats/tools/import_subject.h"
#include "engine/formats/tools/read_back.h"
#include "engine/scenario/problems.h"

namespace shardlab {

// The sizes of a batch as DeepSpeed completes them; nothing where that takes ranks that are not known.
struct DeepspeedBatch {
  std::optional<std::int64_t> micro, accumulation;
};
DeepspeedBatch deepspeed_batch(const ImportSubject& subject);

// Whether it makes one of the Adams, whose parameters are known.
bool is_adam(const ImportSubject& subject);

// 0 to 3.
int zero_stage(const ImportSubject& subject);

// Whether the file, or whoever fills in its "auto", computes in the dtype.
bool in_bfloat16(const ImportSubject& subject);
bool in_float16(const ImportSubject& subject);

ReadBack read_micro_batch(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_accumulation(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_clipping(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_bfloat16(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_float16(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_scaler_use(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_initial_scale(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_scale_window(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_hysteresis(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_consecutive_hysteresis(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_minimum_scale(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_zero_section(const ImportSubject& subject, const ForeignValue* value);

// The sections of what is offloaded.
inline constexpr std::string_view k_param_section = "offload_param";
inline constexpr std::string_view k_optimizer_section = "offload_optimizer";

ReadBack read_offload_device(const ImportSubject& subject, std::string_view section);
ReadBack read_offload_key(const ImportSubject& subject, std::string_view section, const ForeignValue* value);
ReadBack read_staging_buffers(const ImportSubject& subject, std::string_view section,
                              const ForeignValue* value);
ReadBack read_drive_path(const ImportSubject& subject, std::string_view section, const ForeignValue* value);
ReadBack read_ratio(const ImportSubject& subject, const ForeignValue* value);
// What is said of an optimizer on a drive; without one these have no effect.
ReadBack read_overlap(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_drive_number(const ImportSubject& subject, const ForeignValue* value);

template <const std::string_view& Section>
ReadBack read_device(const ImportSubject& subject, const ForeignValue*) {
  return read_offload_device(subject, Section);
}
template <const std::string_view& Section>
ReadBack read_pinned(const ImportSubject& subject, const ForeignValue* value) {
  return read_offload_key(subject, Section, value);
}
template <const std::string_view& Section>
ReadBack read_drive(const ImportSubject& subject, const ForeignValue* value) {
  return read_drive_path(subject, Section, value);
}
template <const std::string_view& Section>
ReadBack read_buffers(const ImportSubject& subject, const ForeignValue* value) {
  return read_staging_buffers(subject, Section, value);
}

}  // namespace shardlab
