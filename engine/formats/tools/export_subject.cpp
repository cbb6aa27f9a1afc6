#include "engine/formats/tools/export_subject.h"

#include <algorithm>
#include <cctype>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/setting_view.h"

namespace shardlab {
namespace {

bool has_16_bits(DType dtype) {
  return dtype == DType::bfloat16 || dtype == DType::float16;
}

}  // namespace

std::string file_stem(std::string_view name) {
  std::string stem(name.empty() ? "scenario" : name);
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-' && c != '_'; }, '-');
  if (stem.front() == '.' || stem.front() == '-') stem.insert(0, "scenario");
  return stem;
}

Framework framework(const ExportSubject& subject) {
  return facts_of(subject.scenario).framework;
}

bool is_fsdp(const ExportSubject& subject) {
  return framework(subject) == Framework::fsdp1 || framework(subject) == Framework::fsdp2;
}

bool by_deepspeed(const ExportSubject& subject) {
  return framework(subject) == Framework::deepspeed;
}

int nodes(const ExportSubject& subject) {
  return on_processors(subject) ? 1 : subject.scenario.cluster->nodes;
}

int ranks_per_node(const ExportSubject& subject) {
  return world_size(subject.scenario) / nodes(subject);
}

bool on_processors(const ExportSubject& subject) {
  return subject.scenario.cluster->device == DeviceKind::cpu;
}

DType compute_dtype(const ExportSubject& subject) {
  return subject.scenario.precision->param.value_or(subject.scenario.model->dtype);
}

DType reduce_dtype(const ExportSubject& subject) {
  return subject.scenario.precision->reduce.value_or(compute_dtype(subject));
}

std::optional<DType> mixed_precision(const ExportSubject& subject) {
  const PrecisionSpec& precision = *subject.scenario.precision;
  if (precision.autocast && has_16_bits(*precision.autocast)) return precision.autocast;
  const DType computed = compute_dtype(subject);
  if (has_16_bits(computed) && computed != subject.scenario.model->dtype) return computed;
  return std::nullopt;
}

std::string shown_setting(const ExportSubject& subject, std::string_view key) {
  return view_setting(subject.scenario, subject.source, std::string(key)).value;
}

}  // namespace shardlab
