#include <nlohmann/json.hpp>

#include "engine/cli/export_report.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json step_json(const std::optional<PredictedStep>& step) {
  if (!step) return nullptr;
  return {{"step_time_ns", step->step_time.value},
          {"peak_allocated", step->peak_allocated.value},
          {"fits", step->fits ? Json(to_string(*step->fits)) : Json(nullptr)},
          {"fit_reason", step->fit_reason.empty() ? Json(nullptr) : Json(step->fit_reason)}};
}

Json differences_json(const MadeExport& made) {
  Json list = Json::array();
  for (std::size_t i = 0; i < made.differences.size(); ++i) {
    const ExportDifference& d = made.differences[i];
    list.push_back({{"key", d.setting},
                    {"kind", to_string(d.kind)},
                    {"scenario", d.scenario},
                    {"file", d.instead},
                    {"why", d.why},
                    {"effect", i < made.alone.size() ? step_json(made.alone[i]) : Json(nullptr)}});
  }
  return list;
}

Json export_json(const MadeExport& made, const ExportOutcome& outcome) {
  Json files = Json::array();
  for (const ExportedFile& file : made.files) {
    Json entry{{"name", file.name}};
    if (outcome.print_files) entry["text"] = file.text;
    files.push_back(std::move(entry));
  }
  return {{"target", made.target->name},
          {"version", made.target->version},
          {"refused", made.refusal.why.empty() ? Json(nullptr) : Json(made.refusal.why)},
          {"files", std::move(files)},
          {"differences", differences_json(made)},
          {"scenario", step_json(made.scenario)},
          {"run", step_json(made.run)},
          {"unpredicted", made.unpredicted}};
}

}  // namespace

Json exports_json(std::span<const MadeExport> exports, const ExportOutcome& outcome) {
  Json list = Json::array();
  for (const MadeExport& made : exports) list.push_back(export_json(made, outcome));
  return {{"exports", std::move(list)},
          {"written", outcome.written},
          {"folder", outcome.written ? Json(outcome.folder.string()) : Json(nullptr)},
          {"lost", outcome.missing}};
}

}  // namespace shardlab
