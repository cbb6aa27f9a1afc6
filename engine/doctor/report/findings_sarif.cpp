#include <map>

#include <nlohmann/json.hpp>

#include "engine/base/changed_lines.h"
#include "engine/base/version.h"
#include "engine/doctor/registry.h"
#include "engine/doctor/report/findings_report.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

std::string_view level_of(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::info: return "note";
  }
  return "none";
}

Json text_json(std::string_view text) {
  return {{"text", text}};
}

Json rules_json() {
  Json rules = Json::array();
  for (const Rule& rule : all_rules())
    rules.push_back({{"id", rule.id},
                     {"shortDescription", text_json(rule.title)},
                     {"fullDescription", text_json(rule.explanation)},
                     {"help", text_json(rule.fix.text)},
                     {"defaultConfiguration", {{"level", level_of(rule.severity)}}},
                     {"properties", {{"tags", rule.codes}}}});
  return rules;
}

Json location_json(const Evidence& evidence) {
  Json place = {{"artifactLocation", {{"uri", evidence.source == "-" ? "stdin" : evidence.source}}}};
  if (evidence.line > 0)
    place["region"] = {{"startLine", evidence.line}, {"snippet", text_json(evidence.text)}};
  return {{"physicalLocation", std::move(place)}, {"message", text_json(evidence.where)}};
}

Json result_json(const Finding& finding, const std::map<std::string, std::size_t>& index) {
  Json locations = Json::array();
  for (const Evidence& evidence : finding.evidence) locations.push_back(location_json(evidence));
  Json result = {{"ruleId", finding.rule}};
  if (const auto known = index.find(finding.rule); known != index.end()) result["ruleIndex"] = known->second;
  result["level"] = level_of(finding.severity);
  result["message"] = text_json(finding.message + " Fix: " + finding.fix.text + ".");
  result["locations"] = std::move(locations);
  return result;
}

// The lines that change, from the beginning of the first to the beginning of the one behind the last.
Json fix_of(const Finding& finding, const FixedFile& file) {
  const ChangedLines changed = changed_lines(file.before, file.after);
  const Json region = {
      {"startLine", changed.begin}, {"startColumn", 1}, {"endLine", changed.end}, {"endColumn", 1}};
  const Json replacement = {{"deletedRegion", region}, {"insertedContent", text_json(changed.text)}};
  const Json change = {{"artifactLocation", {{"uri", file.file}}},
                       {"replacements", Json::array({replacement})}};
  return {{"description", text_json(finding.fix.text)}, {"artifactChanges", Json::array({change})}};
}

}  // namespace

Json findings_sarif(const std::vector<Examination>& examinations, const FixedFileOf& fixed) {
  std::map<std::string, std::size_t> index;
  for (const Rule& rule : all_rules()) index.emplace(rule.id, index.size());
  Json results = Json::array();
  for (const Examination& examination : examinations) {
    for (const Finding& finding : examination.findings) {
      Json result = result_json(finding, index);
      if (const auto file = fixed ? fixed(examination, finding) : std::nullopt)
        result["fixes"] = Json::array({fix_of(finding, *file)});
      results.push_back(std::move(result));
    }
  }
  const Json driver = {{"name", "shardlab doctor"}, {"version", program_version()}, {"rules", rules_json()}};
  Json run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({std::move(run)})}};
}

}  // namespace shardlab
