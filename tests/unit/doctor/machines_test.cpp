// Machines as texts: what shows each rule, and what only looks like it (tests/data/doctor/machines.txt).
#include <fstream>
#include <map>
#include <set>

#include "engine/doctor/machine/machine_words.h"
#include "engine/machine/read_facts.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

using test::finding_of_rule;

using TextsByMachine = std::map<std::string, MachineTexts>;

// "--- MACHINE/TEXT" and the lines of that text.
TextsByMachine texts_in(const std::string& block) {
  TextsByMachine texts;
  std::string* text = nullptr;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- ")) {
      const std::size_t slash = line.find('/');
      text = &texts[line.substr(4, slash - 4)][line.substr(slash + 1)];
    } else {
      REQUIRE(text != nullptr);
      *text += line + "\n";
    }
  }
  return texts;
}

std::vector<MachineFacts> facts_of(const TextsByMachine& texts) {
  const auto known = known_variables();
  REQUIRE(known);
  std::vector<MachineFacts> machines;
  for (const auto& [name, of] : texts) machines.push_back(read_facts({name, of}, *known));
  return machines;
}

std::vector<MachineFacts> machines_in(const std::string& block) {
  return facts_of(texts_in(block));
}

Examination examine_machines(const std::vector<MachineFacts>& machines) {
  Case known;
  known.source = "machines";
  known.machines = &machines;
  return examine(known, all_rules());
}

bool needs_machines_alone(const Rule& rule) {
  return std::any_of(rule.checks.begin(), rule.checks.end(), [](const RuleCheck& check) {
    return check.needs == std::vector<Need>{Need::environment};
  });
}

TEST_CASE("what a machine says shows a rule, and a near miss does not") {
  std::map<std::string, std::set<bool>> tried;
  for (const test::LogBlock& block : test::log_blocks("machines.txt")) {
    const bool is_near = block.head.front() == "near";
    const std::string rule = block.head.back();
    INFO(rule << ": " << block.source << "\n" << block.text);
    REQUIRE(find_rule(rule));
    tried[rule].insert(is_near);
    const Examination found = examine_machines(machines_in(block.text));
    const Finding* finding = finding_of_rule(found, rule);
    if (is_near) {
      CHECK((finding == nullptr || (finding->severity == Severity::info && rule == "network/peer-to-peer")));
    } else {
      REQUIRE(finding != nullptr);
      CHECK(found.findings.front().rule == rule);
      CHECK_FALSE(finding->evidence.empty());
      CHECK(finding->message.ends_with('.'));
    }
  }
  for (const Rule& rule : all_rules()) {
    INFO(rule.id);
    if (needs_machines_alone(rule)) CHECK(tried[std::string(rule.id)].size() == 2);
  }
}

TEST_CASE("a rank that differs is named among those that do not") {
  std::string block;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = "--- " + std::to_string(rank) + "/";
    block += name + "hostname\nnode" + std::to_string(rank / 2) + "\n" + name +
             "environment\nRANK=" + std::to_string(rank) + "\n" + name + "packages\ntorch==2." +
             (rank == 2 ? "10" : "11") + ".0\n";
  }
  const Examination found = examine_machines(machines_in(block));
  REQUIRE_FALSE(found.findings.empty());
  const Finding& finding = found.findings.front();
  CHECK(finding.rule == "configuration/effective-differs");
  CHECK(finding.severity == Severity::error);
  CHECK(finding.ranks == std::vector<int>{2});
  CHECK(finding.message == "torch is 2.10.0 on rank 2 on node1 and 2.11.0 on rank 0 on node0 and 2 others.");
}

TEST_CASE("a machine without anything to say is well, and one of 512 ranks is told once") {
  CHECK(examine_machines(machines_in("--- a/hostname\nnode1\n")).findings.empty());
  std::string block;
  for (int rank = 0; rank < 512; ++rank) {
    const std::string name = "--- " + std::to_string(1000 + rank) + "/";
    block += name + "hostname\nnode" + std::to_string(rank / 8) + "\n" + name +
             "environment\nRANK=" + std::to_string(rank) + "\nNCCL_IB_DISABLE=1\n" + name +
             "fabric\nmlx5_0 1 ACTIVE InfiniBand 400\n";
  }
  const std::vector<MachineFacts> machines = machines_in(block);
  const Examination found = examine_machines(machines);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings.front().ranks.size() == 512);
  CHECK(found.findings.front().message ==
        "NCCL_IB_DISABLE switches 1 active port of rank 0 on node0 off. The same on 511 others.");
  CHECK(words_of(machines) ==
        "rank 0 on node0 and 511 others: no driver of NVIDIA, 1 active port of 400 Gb/s.");
}

TEST_CASE("texts that are not as they should be say nothing") {
  const std::string rubbish = "\x01\xff,,,\"\n--\tGPU0\tGPU1\nGPU0\nMax open files\nMemTotal: x kB\n0: :\n";
  MachineTexts texts;
  for (const char* name :
       {"hostname", "environment", "interfaces", "host_addresses", "head", "df_shm", "limits", "meminfo",
        "memory.max", "memory.current", "tcp", "modules", "fabric", "gpus.csv", "gpu_processes.csv",
        "topology", "peer_access", "nvidia-smi", "packages"})
    texts[name] = rubbish;
  const auto known = known_variables();
  REQUIRE(known);
  const MachineFacts facts = read_facts({"a", texts}, *known);
  CHECK(facts.gpus.empty());
  CHECK_FALSE(facts.shared_memory);
  CHECK_FALSE(facts.head);
  CHECK(examine_machines({facts}).findings.empty());
}

TEST_CASE("mutated machines give findings or none, never a failure") {
  std::mt19937 random(20261128);
  std::size_t mutations = 0, findings = 0;
  for (const test::LogBlock& block : test::log_blocks("machines.txt")) {
    for (int round = 0; round < 40; ++round) {
      TextsByMachine texts = texts_in(block.text);
      for (auto& [name, of] : texts) {
        for (auto& [text, content] : of) content = test::mutated(std::move(content), random);
      }
      const Examination found = examine_machines(facts_of(texts));
      ++mutations;
      findings += found.findings.size();
      for (const Finding& finding : found.findings) REQUIRE_FALSE(finding.evidence.empty());
    }
  }
  WARN(mutations << " mutations, " << findings << " findings");
  CHECK(findings > mutations / 8);
}

}  // namespace
}  // namespace shardlab
