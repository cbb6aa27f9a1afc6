#include "engine/report/json.h"

#include <nlohmann/json.hpp>

#include "engine/report/words/alive_at_peak.h"
#include "engine/trace/run_summary_json.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string_view unit_name(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::nanoseconds: return "ns";
    case MetricUnit::bytes: return "bytes";
    case MetricUnit::tokens_per_second: return "tokens/s";
    case MetricUnit::fraction: return "1";
  }
  return "?";
}

Json metric_json(const Metric& metric) {
  return {{"name", metric.name},
          {"unit", unit_name(metric.unit)},
          {"predicted", or_null(metric.predicted)},
          {"measured", or_null(metric.measured)},
          {"error", or_null(metric.error)},
          {"tolerance", or_null(metric.tolerance)},
          {"verdict", to_string(metric.verdict)}};
}

Json instruction_json(const InstructionDifference& row) {
  return {{"id", row.instruction.value},
          {"label", row.label},
          {"kind", to_string(row.kind)},
          {"predicted_ns", row.predicted.value},
          {"measured_ns", row.measured.value},
          {"difference_ns", row.difference().value},
          {"share", row.share}};
}

Json memory_json(const std::optional<MemoryDifference>& memory) {
  if (!memory) return nullptr;
  return {
      {"borders", memory->borders},        {"equal", memory->equal}, {"largest", memory->largest},
      {"id", memory->instruction.value},   {"label", memory->label}, {"predicted", memory->predicted.value},
      {"measured", memory->measured.value}};
}

Json workspace_json(const std::optional<UnpredictedWorkspace>& workspace) {
  if (!workspace) return nullptr;
  return {
      {"bytes", workspace->bytes.value}, {"id", workspace->instruction.value}, {"label", workspace->label}};
}

}  // namespace

Json run_json(const RunSummary& summary, std::optional<RunId> id) {
  Json json = {{"run_id", id ? Json(to_string(*id)) : Json(nullptr)}};
  json.update(summary_json(summary));
  return json;
}

Json alive_json(const StepPlan& plan, const MemorySummary& memory) {
  Json rows = Json::array();
  for (const AliveRow& row : alive_at_peak(plan, memory)) {
    rows.push_back({{"bytes", row.bytes.value},
                    {"what", row.what},
                    {"class", to_string(row.buffer_class)},
                    {"buffers", row.buffers},
                    {"since", row.since_words},
                    {"since_id", row.since ? Json(row.since->value) : Json(nullptr)}});
  }
  return rows;
}

Json comparison_json(const Comparison& comparison, const Json& predicted, const Json& measured) {
  Json metrics = Json::array();
  for (const Metric& metric : comparison.metrics) metrics.push_back(metric_json(metric));
  Json instructions = Json::array();
  for (const InstructionDifference& row : comparison.instructions)
    instructions.push_back(instruction_json(row));
  return {
      {"predicted", predicted},
      {"measured", measured},
      {"metrics", metrics},
      {"verdict", to_string(comparison.verdict)},
      {"times_not_judged", comparison.times_not_judged.empty() ? Json() : Json(comparison.times_not_judged)},
      {"instructions", instructions},
      {"memory_difference", memory_json(comparison.memory)},
      {"unpredicted_workspace", workspace_json(comparison.workspace)}};
}

Json entry_json(const RunEntry& entry) {
  Json json = {{"run_id", to_string(entry.id)},
               {"kind", to_string(entry.kind)},
               {"name", entry.name},
               {"created", entry.created},
               {"strategy", entry.strategy},
               {"ranks", entry.ranks > 0 ? Json(entry.ranks) : Json(nullptr)},
               {"machine", entry.machine},
               {"times_not_judged", entry.times_not_judged.empty() ? Json() : Json(entry.times_not_judged)},
               {"plan_hash", entry.plan_hash},
               {"run_hash", entry.run_hash},
               {"calibrated", entry.calibrated}};  // stands here, before the other figures
  add_columns(json, entry);
  json["tags"] = entry.tags;
  json["note"] = entry.note;
  return json;
}

}  // namespace shardlab
