// What shows a finding on a machine. Private to the doctor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"
#include "engine/doctor/rule.h"
#include "engine/machine/machine_facts.h"

namespace shardlab {

// "node7", "rank 3 on node7".
std::string name_of(const MachineFacts& machine);

// The value of a variable as this machine has it; null: it is not set.
const std::string* variable(const MachineFacts& machine, std::string_view name);

// "/dev/shm": "64 MiB".
Evidence evidence_of_machine(const MachineFacts& machine, std::string where, std::string text);
// "NCCL_IB_DISABLE": "NCCL_IB_DISABLE=1".
Evidence evidence_of_variable(const MachineFacts& machine, std::string_view name);

// What a check says of one machine: nothing where it is well.
struct MachineRemark {
  std::string message;  // a sentence about one machine
  Severity severity = Severity::error;
  std::vector<Evidence> evidence;
};

// What is to be said of one machine of the case.
using RemarksOn = std::vector<MachineRemark> (*)(const Case& facts, const MachineFacts& machine);

// One finding of all machines that a check remarks upon: the first says it, the number of others is added,
// and severity is the highest of them, the rule's own at most.
std::vector<Finding> findings_of(const Rule& rule, const Case& facts, RemarksOn remarks);

// The same as a check: `.run = machine_check<shared_memory_remarks>`.
template <RemarksOn remarks>
std::vector<Finding> machine_check(const Rule& rule, const Case& facts) {
  return findings_of(rule, facts, remarks);
}

}  // namespace shardlab
