#include "engine/doctor/machine/machine_evidence.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/text/log_lines.h"

namespace shardlab {
namespace {

constexpr std::size_t k_shown = 4;
constexpr int k_certainty = 85;

void add_machine(Finding& finding, const MachineFacts& machine, MachineRemark remark) {
  finding.severity = std::min(finding.severity, remark.severity);
  for (Evidence& evidence : remark.evidence) {
    const bool is_said = std::any_of(
        finding.evidence.begin(), finding.evidence.end(),
        [&](const Evidence& said) { return said.where == evidence.where && said.text == evidence.text; });
    if (!is_said && finding.evidence.size() < k_shown) finding.evidence.push_back(std::move(evidence));
  }
  if (machine.rank) finding.ranks.push_back(*machine.rank);
}

std::string others_words(std::size_t others) {
  return others == 0 ? std::string()
                     : fmt::format(" The same on {} other{}.", others, others == 1 ? "" : "s");
}

}  // namespace

std::string name_of(const MachineFacts& machine) {
  const std::string host = machine.host.empty() ? machine.source : machine.host;
  return machine.rank ? fmt::format("rank {} on {}", *machine.rank, host) : host;
}

const std::string* variable(const MachineFacts& machine, std::string_view name) {
  const auto found = machine.environment.find(name);
  return found == machine.environment.end() || found->second.empty() ? nullptr : &found->second;
}

Evidence evidence_of_machine(const MachineFacts& machine, std::string where, std::string text) {
  Evidence evidence{name_of(machine), std::move(where), readable(text)};
  evidence.rank = machine.rank;
  return evidence;
}

Evidence evidence_of_variable(const MachineFacts& machine, std::string_view name) {
  const std::string* value = variable(machine, name);
  return evidence_of_machine(
      machine, "environment",
      value == nullptr ? fmt::format("{} is not set", name) : fmt::format("{}={}", name, *value));
}

std::vector<Finding> findings_of(const Rule& rule, const Case& facts, RemarksOn remarks) {
  Finding finding = finding_of(rule);
  finding.severity = Severity::info;
  finding.certainty = k_certainty;
  std::size_t machines = 0;
  for (const MachineFacts& machine : *facts.machines) {
    std::vector<MachineRemark> found = remarks(facts, machine);
    if (found.empty()) continue;
    if (machines++ == 0) {
      std::string message;
      for (const MachineRemark& remark : found) message += (message.empty() ? "" : " ") + remark.message;
      finding.message = std::move(message);
    }
    for (MachineRemark& remark : found) add_machine(finding, machine, std::move(remark));
  }
  if (machines == 0) return {};
  finding.severity = std::max(finding.severity, rule.severity);
  finding.message += others_words(machines - 1);
  return {finding};
}

}  // namespace shardlab
