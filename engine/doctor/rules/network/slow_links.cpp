// Links that are slower than they should be.
#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/measured_times.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr double k_of_profile = 0.7;

std::vector<Finding> check_collectives(const Rule& rule, const Case& facts) {
  const auto times = collective_times(facts);
  if (!times) return {};
  const double rate =
      static_cast<double>(times->predicted.value) / static_cast<double>(times->measured.value);
  if (rate >= k_of_profile) return {};
  Finding finding = finding_of(rule);
  if (!is_on_gpus(facts)) finding.severity = Severity::info;
  finding.message =
      fmt::format("The large collectives of a step took {}, by the profile {}: {} of its bandwidth.",
                  to_string(times->measured), to_string(times->predicted), share_words(rate));
  finding.evidence = {
      evidence_of_instruction(facts, times->slowest,
                              fmt::format("{} measured, {} predicted", to_string(times->slowest_measured),
                                          to_string(times->slowest_predicted)))};
  return {finding};
}

std::vector<MachineRemark> lane_remarks(const Case&, const MachineFacts& machine) {
  std::vector<MachineRemark> remarks;
  for (const MachineGpu& gpu : machine.gpus) {
    if (gpu.lanes == 0 || gpu.lanes >= gpu.most_lanes) continue;
    remarks.push_back({fmt::format("GPU {} of {} is connected by {} lanes of PCIe and could have {}.",
                                   gpu.index, name_of(machine), gpu.lanes, gpu.most_lanes),
                       Severity::warning,
                       {evidence_of_machine(machine, fmt::format("GPU {}", gpu.index),
                                            fmt::format("{} of {} lanes", gpu.lanes, gpu.most_lanes))}});
  }
  return remarks;
}

// A port of the same kind as most that is slower than they are.
std::vector<MachineRemark> port_remarks(const Case&, const MachineFacts& machine) {
  const std::vector<FabricPort> ports = active_ports(machine);
  const auto best = [&](const FabricPort& port) {
    double most = 0;
    int with = 0;
    for (const FabricPort& other : ports) {
      if (other.layer == port.layer) most = std::max(most, other.gigabits);
    }
    for (const FabricPort& other : ports) with += other.layer == port.layer && other.gigabits == most ? 1 : 0;
    return with >= 2 ? most : port.gigabits;
  };
  std::vector<MachineRemark> remarks;
  for (const FabricPort& port : ports) {
    if (port.gigabits >= best(port)) continue;
    remarks.push_back({fmt::format("{}:{} of {} runs at {} Gb/s, others like it at {}.", port.device,
                                   port.port, name_of(machine), port.gigabits, best(port)),
                       Severity::warning,
                       {evidence_of_machine(machine, "infiniband",
                                            fmt::format("{} {} Gb/s", port.device, port.gigabits))}});
  }
  return remarks;
}

std::vector<Finding> check_links(const Rule& rule, const Case& facts) {
  std::vector<Finding> found = findings_of(rule, facts, lane_remarks);
  for (Finding& finding : findings_of(rule, facts, port_remarks)) found.push_back(std::move(finding));
  return found;
}

std::vector<MachineRemark> protocol_remarks(const Case&, const MachineFacts& machine) {
  const std::string* net = variable(machine, "NCCL_NET");
  if (net == nullptr || in_lower_case(*net) != "socket" || active_ports(machine).empty()) return {};
  const FabricPort port = active_ports(machine).front();
  return {{fmt::format("NCCL_NET is {}, although {} has {} at {} Gb/s.", *net, name_of(machine), port.layer,
                       port.gigabits),
           Severity::warning,
           {evidence_of_variable(machine, "NCCL_NET"),
            evidence_of_machine(machine, "infiniband", fmt::format("{} is active", port.device))}}};
}

Rule slow_links() {
  return {
      .id = "network/slow-links",
      .codes = {"D-13"},
      .title = "links between nodes are slower than their profile",
      .severity = Severity::warning,
      .needs = {Need::plan, Need::prediction, Need::measurement, Need::environment},
      .threshold = "collectives of a mebibyte or more below 70 % of the profile (a proposal, to be tuned)",
      .source = "nccl-tests; shardlab calibrate",
      .message = "The measured bus bandwidth is below the profile's.",
      .explanation = "A profile from data sheets is optimistic; a link that is down halves what is left.",
      .fix = {.kind = FixKind::command,
              .text = "measure with `shardlab calibrate` or nccl-tests and use the result"},
      .example = "a bus bandwidth of 90 GB/s where the profile says 180",
      .checks = {{.needs = {Need::plan, Need::prediction, Need::measurement}, .run = check_collectives},
                 {.needs = {Need::environment}, .run = check_links}},
  };
}

Rule slow_protocol() {
  return {
      .id = "network/slow-protocol",
      .codes = {"E-28"},
      .title = "TCP between nodes that have InfiniBand",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::environment},
      .source = "NCCL's transports",
      .message = "Nodes talk through TCP although they have RDMA.",
      .explanation = "Sockets reach a fraction of the rate and cost processor time.",
      .fix = {.kind = FixKind::environment,
              .text = "use InfiniBand or RoCE: NCCL_IB_DISABLE unset, devices in the container"},
      .example = "a cluster with InfiniBand and NCCL_IB_DISABLE=1",
      .checks = {{.needs = {Need::environment}, .run = machine_check<protocol_remarks>}},
  };
}

}  // namespace

std::vector<Rule> network_slow_links_rules() {
  return {slow_links(), slow_protocol()};
}

}  // namespace shardlab
