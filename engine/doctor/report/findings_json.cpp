#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "engine/doctor/report/findings_report.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

Json evidence_json(const std::vector<Evidence>& evidence) {
  Json list = Json::array();
  for (const Evidence& seen : evidence)
    list.push_back({{"source", seen.source}, {"where", seen.where}, {"text", seen.text}});
  return list;
}

Json cost_json(const Cost& cost) {
  Json json = {
      {"peak", cost.peak.value},          {"reserved", nullptr}, {"step_time_ns", cost.step_time.value},
      {"exposed_ns", cost.exposed.value}, {"fits", nullptr},     {"too_much", nullptr}};
  if (cost.reserved) json["reserved"] = cost.reserved->value;
  if (cost.fits) json["fits"] = *cost.fits;
  if (cost.too_much) json["too_much"] = cost.too_much->value;
  return json;
}

Json effect_json(const std::optional<Effect>& effect) {
  if (!effect) return nullptr;
  return {{"before", cost_json(effect->before)}, {"after", cost_json(effect->after)}};
}

Json finding_json(const Finding& finding) {
  return {
      {"rule", finding.rule},
      {"codes", finding.codes},
      {"severity", to_string(finding.severity)},
      {"title", finding.title},
      {"message", finding.message},
      {"evidence", evidence_json(finding.evidence)},
      {"ranks", finding.ranks},
      {"fix", {{"kind", to_string(finding.fix.kind)}, {"set", finding.fix.set}, {"text", finding.fix.text}}},
      {"effect", effect_json(finding.effect)}};
}

}  // namespace

Json findings_json(const std::vector<Examination>& examinations) {
  Json findings = Json::array();
  std::map<std::string, std::size_t> times_skipped;
  for (const Examination& examination : examinations) {
    for (const Finding& finding : examination.findings) findings.push_back(finding_json(finding));
    for (const Skipped& skipped : examination.skipped) ++times_skipped[skipped.rule];
  }
  Json skipped = Json::array();
  if (!examinations.empty()) {
    for (const Skipped& rule : examinations.front().skipped) {
      if (times_skipped[rule.rule] == examinations.size())
        skipped.push_back({{"rule", rule.rule}, {"why", rule.why}});
    }
  }
  Json notes = Json::array();
  std::int64_t known = 0;
  for (const Examination& examination : examinations) {
    known += examination.known;
    if (!examination.note.empty()) notes.push_back(examination.note);
  }
  return {{"findings", std::move(findings)},
          {"skipped", std::move(skipped)},
          {"notes", std::move(notes)},
          {"known", known}};
}

Json fix_json(const FixReport& report) {
  Json left = Json::array();
  for (const LeftFinding& each : report.left) {
    left.push_back(finding_json(each.finding));
    left.back()["why"] = each.why;
  }
  return {{"file", report.file},
          {"set", report.set},
          {"rules", report.rules},
          {"effect", effect_json(report.effect)},
          {"left", std::move(left)}};
}

}  // namespace shardlab
