// What nodes really run.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/machine/compare_machines.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/hardware/catalogue.h"
#include "engine/hardware/device.h"

namespace shardlab {
namespace {

// Variables that a launcher gives each process, or that name a machine.
bool is_of_one_process(std::string_view name) {
  constexpr auto k_beginnings = std::to_array<std::string_view>(
      {"RANK", "LOCAL_RANK", "ROLE_RANK", "GROUP_RANK", "SLURM", "OMPI_", "PMI", "TORCHELASTIC_", "HOSTNAME",
       "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NCCL_IB_", "NCCL_SOCKET_IFNAME",
       "GLOO_SOCKET_IFNAME", "PYTHONPATH"});
  return std::any_of(k_beginnings.begin(), k_beginnings.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

SaidByName said_by(const MachineFacts& machine) {
  SaidByName said(machine.packages.begin(), machine.packages.end());
  for (const auto& [name, value] : machine.environment) {
    if (!is_of_one_process(name)) said.emplace(name, value);
  }
  if (!machine.driver.empty()) said["the driver"] = machine.driver;
  if (machine.says_gpus)
    said["the GPUs"] = machine.gpus.empty()
                           ? "none"
                           : fmt::format("{} x {}", machine.gpus.size(), machine.gpus.front().name);
  return said;
}

// Whether ranks that differ in it cannot work together.
bool must_be_alike(std::string_view name) {
  return name == "torch" || name.starts_with("nvidia-nccl") || name.starts_with("MASTER_") ||
         name == "WORLD_SIZE";
}

std::vector<Finding> check_machines(const Rule& rule, const Case& facts) {
  std::vector<Finding> found;
  for (const Difference& each : differences(*facts.machines, said_by)) {
    Finding finding = finding_about(rule, each);
    if (must_be_alike(each.name))
      finding.certainty += 5;
    else
      finding.severity = Severity::warning;
    found.push_back(std::move(finding));
  }
  return found;
}

// Another GPU than the one that is predicted.
std::vector<MachineRemark> other_gpu_remarks(const Case& facts, const MachineFacts& machine) {
  const Device& device = *facts.job->device;
  if (device.kind == DeviceKind::cpu) return {};
  const auto other = std::find_if(machine.gpus.begin(), machine.gpus.end(), [&](const MachineGpu& gpu) {
    return !is_device_called(device.name, gpu.name);
  });
  if (other == machine.gpus.end()) return {};
  return {{fmt::format("The scenario is predicted for {}, and {} has {}.", device.name, name_of(machine),
                       other->name),
           Severity::warning,
           {evidence_of_machine(machine, fmt::format("GPU {}", other->index), other->name),
            evidence_of_key(facts, "cluster.gpu")}}};
}

Rule effective_differs() {
  return {
      .id = "configuration/effective-differs",
      .codes = {"E-30"},
      .title = "nodes run different configurations",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log, Need::configuration},
      .source = "a comparison of hashes",
      .message = "The effective configuration differs between nodes.",
      .explanation = "Files, environment or versions differ; results do too.",
      .fix = {.kind = FixKind::command, .text = "compare the files, variables and versions of all nodes"},
      .example =
          "init.cc:1012 NCCL WARN Mismatched NCCL version detected : rank 0 version 22005 rank 4 version "
          "21805",
      .signs =
          {
              {.pattern = "mismatched nccl version detected", .certainty = 90},
              {.pattern = "nccl version mismatch", .certainty = 82},
          },
      .checks = {{.needs = {Need::environment}, .run = check_machines},
                 {.needs = {Need::configuration, Need::environment},
                  .run = machine_check<other_gpu_remarks>}},
  };
}

}  // namespace

std::vector<Rule> configuration_effective_configuration_rules() {
  return {effective_differs()};
}

}  // namespace shardlab
