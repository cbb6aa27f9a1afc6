#include "engine/doctor/machine/compare_machines.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"

namespace shardlab {
namespace {

std::string value_words(const std::string& value) {
  return value.empty() ? "not set" : value;
}

// "rank 2 on node1 and 3 others".
std::string with_others(const MachineFacts& machine, std::size_t all) {
  const std::string others = all == 1 ? "" : fmt::format(" and {} other{}", all - 1, all == 2 ? "" : "s");
  return name_of(machine) + others;
}

std::string value_of(const SaidByName& said, const std::string& name) {
  const auto found = said.find(name);
  return found == said.end() ? std::string() : found->second;
}

Difference difference_of(const std::string& name, const std::vector<MachineFacts>& machines,
                         const std::vector<SaidByName>& said) {
  std::map<std::string, std::size_t> count;
  for (const SaidByName& each : said) ++count[value_of(each, name)];
  Difference difference;
  difference.name = name;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const std::string value = value_of(said[i], name);
    if (count[value] <= difference.alike) continue;
    difference.alike = count[value];
    difference.usual = value;
    difference.first = &machines[i];
  }
  for (std::size_t i = 0; i < machines.size(); ++i) {
    std::string value = value_of(said[i], name);
    if (value != difference.usual) difference.odd.push_back({&machines[i], std::move(value)});
  }
  return difference;
}

}  // namespace

std::vector<Difference> differences(const std::vector<MachineFacts>& machines,
                                    SaidByName (*said)(const MachineFacts& machine)) {
  std::vector<SaidByName> all;
  std::set<std::string> names;
  for (const MachineFacts& machine : machines) {
    all.push_back(said(machine));
    for (const auto& [name, value] : all.back()) names.insert(name);
  }
  std::vector<Difference> found;
  for (const std::string& name : names) {
    Difference difference = difference_of(name, machines, all);
    if (!difference.odd.empty()) found.push_back(std::move(difference));
  }
  return found;
}

std::string words_of(const Difference& difference) {
  const Difference::Odd& odd = difference.odd.front();
  return fmt::format("{} is {} on {} and {} on {}.", difference.name, value_words(odd.value),
                     with_others(*odd.machine, difference.odd.size()), value_words(difference.usual),
                     with_others(*difference.first, difference.alike));
}

Finding finding_about(const Rule& rule, const Difference& difference) {
  constexpr std::size_t k_shown = 3;
  Finding finding = finding_of(rule);
  finding.message = words_of(difference);
  finding.certainty = 85;
  const auto add = [&](const MachineFacts& machine, const std::string& value) {
    finding.evidence.push_back(evidence_of_machine(machine, difference.name, value_words(value)));
  };
  for (const Difference::Odd& odd : difference.odd) {
    if (finding.evidence.size() < k_shown) add(*odd.machine, odd.value);
    if (odd.machine->rank) finding.ranks.push_back(*odd.machine->rank);
  }
  add(*difference.first, difference.usual);
  return finding;
}

}  // namespace shardlab
