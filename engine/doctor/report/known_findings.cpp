#include "engine/doctor/report/known_findings.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;

// A number is what changes from one look to the next: steps, sizes, lines, times.
std::string without_numbers(const std::string& text) {
  std::string kept;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) kept += c;
    if (is_digit && !kept.ends_with('#')) kept += '#';
  }
  return kept;
}

std::vector<std::string> shown_by(const Finding& finding) {
  std::set<std::string> keys;
  for (const Evidence& seen : finding.evidence) {
    if (!seen.key.empty()) keys.insert(seen.key);
  }
  if (!keys.empty() || finding.evidence.empty()) return {keys.begin(), keys.end()};
  const Evidence& first = finding.evidence.front();
  return {without_numbers(first.where), without_numbers(first.text)};
}

KnownFinding known_finding(const Finding& finding, const std::string& source) {
  return {finding.rule, source, shown_by(finding), finding.severity};
}

bool is_known(const KnownFinding& finding, const std::vector<KnownFinding>& known) {
  return std::any_of(known.begin(), known.end(), [&](const KnownFinding& each) {
    return each.rule == finding.rule && each.source == finding.source && each.shows == finding.shows &&
           each.severity <= finding.severity;
  });
}

std::optional<std::string> text_of(const Json& value, const char* key) {
  const auto found = value.is_object() ? value.find(key) : value.end();
  if (found == value.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<KnownFinding> read_known(const Json& value) {
  const auto rule = text_of(value, "rule"), source = text_of(value, "source");
  const auto severity = parse_word<Severity>(text_of(value, "severity").value_or(""));
  if (!rule || !source || !severity || !value.contains("shows") || !value["shows"].is_array())
    return std::nullopt;
  KnownFinding known{*rule, *source, {}, *severity};
  for (const Json& each : value["shows"]) {
    if (!each.is_string()) return std::nullopt;
    known.shows.push_back(each.get<std::string>());
  }
  return known;
}

}  // namespace

std::vector<KnownFinding> known_findings(const std::vector<Examination>& examinations) {
  std::vector<KnownFinding> known;
  for (const Examination& examination : examinations) {
    for (const Finding& finding : examination.findings) {
      KnownFinding each = known_finding(finding, examination.source);
      if (std::find(known.begin(), known.end(), each) == known.end()) known.push_back(std::move(each));
    }
  }
  return known;
}

void leave_out_known(std::vector<Examination>& examinations, const std::vector<KnownFinding>& known) {
  for (Examination& examination : examinations) {
    examination.known +=
        static_cast<std::int64_t>(std::erase_if(examination.findings, [&](const Finding& finding) {
          return is_known(known_finding(finding, examination.source), known);
        }));
  }
}

Json baseline_json(const std::vector<KnownFinding>& known) {
  Json findings = Json::array();
  for (const KnownFinding& each : known)
    findings.push_back({{"rule", each.rule},
                        {"source", each.source},
                        {"shows", each.shows},
                        {"severity", to_string(each.severity)}});
  return {{"baseline", std::move(findings)}};
}

Result<std::vector<KnownFinding>> read_baseline(std::string_view text, const std::string& file) {
  const auto wrong = [&] {
    return bad_input(in_file(file), "is no baseline of the doctor",
                     "`shardlab doctor TARGET --write-baseline FILE` writes one");
  };
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || is_json_too_deep(text) || !root.is_object() || !root.contains("baseline") ||
      !root["baseline"].is_array())
    return wrong();
  std::vector<KnownFinding> known;
  for (const Json& value : root["baseline"]) {
    auto each = read_known(value);
    if (!each) return wrong();
    known.push_back(*std::move(each));
  }
  return known;
}

}  // namespace shardlab
