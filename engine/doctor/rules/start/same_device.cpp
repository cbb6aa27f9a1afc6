// Which device a rank uses.
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <utility>

#include "engine/doctor/case.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// The only device that a process is shown; null where it is shown more, or all.
const std::string* only_device(const MachineFacts& machine) {
  const std::string* shown = variable(machine, "CUDA_VISIBLE_DEVICES");
  return shown == nullptr || shown->find(',') != std::string::npos || *shown == "-1" ? nullptr : shown;
}

std::vector<Finding> check_same_device(const Rule& rule, const Case& facts) {
  std::map<std::pair<std::string, std::string>, const MachineFacts*> owners;
  for (const MachineFacts& machine : *facts.machines) {
    const std::string* device = machine.rank ? only_device(machine) : nullptr;
    if (device == nullptr) continue;
    const auto [owner, is_new] = owners.emplace(std::pair(machine.host, *device), &machine);
    if (is_new) continue;
    Finding finding = finding_of(rule);
    finding.message = fmt::format("Ranks {} and {} of {} are both shown device {} and no other.",
                                  *owner->second->rank, *machine.rank, machine.host, *device);
    finding.certainty = 90;
    finding.ranks = {*owner->second->rank, *machine.rank};
    finding.evidence = {evidence_of_variable(*owner->second, "CUDA_VISIBLE_DEVICES"),
                        evidence_of_variable(machine, "CUDA_VISIBLE_DEVICES")};
    return {finding};
  }
  return {};
}

std::vector<MachineRemark> kind_remarks(const Case&, const MachineFacts& machine) {
  const std::string* order = variable(machine, "CUDA_DEVICE_ORDER");
  if (order != nullptr && *order == "PCI_BUS_ID") return {};
  const auto other = std::find_if(machine.gpus.begin(), machine.gpus.end(), [&](const MachineGpu& gpu) {
    return gpu.name != machine.gpus.front().name;
  });
  if (other == machine.gpus.end()) return {};
  return {{fmt::format("{} has a {} and a {}: CUDA numbers them by speed, nvidia-smi by bus.",
                       name_of(machine), machine.gpus.front().name, other->name),
           Severity::warning,
           {evidence_of_variable(machine, "CUDA_DEVICE_ORDER"),
            evidence_of_machine(machine, fmt::format("GPU {}", other->index), other->name)}}};
}

// A plain program whose processes all say "cuda" and never which.
std::vector<Finding> check_chosen_device(const Rule& rule, const Case& facts) {
  const TrainingProgram& program = *facts.program;
  const auto moved = first_line_with(program, {".cuda()", ".to('cuda')", ".to(\"cuda\")"});
  const bool chooses = first_line_with(program, {"set_device(", "device_id=", "device_index(",
                                                 "CUDA_VISIBLE_DEVICES", "LOCAL_RANK", "local_rank"})
                           .has_value();
  if (!moved || chooses || !is_plain_and_distributed(program)) return {};
  return {finding_of_program(rule, 78, {*moved})};
}

Rule same_device() {
  return {
      .id = "start/same-device",
      .codes = {"E-05"},
      .title = "several ranks use the same device",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log, Need::environment, Need::program},
      .threshold = "two ranks of one node on one device",
      .source = "NCCL's init.cc (duplicate GPU)",
      .message = "Two ranks of a node use the same GPU.",
      .explanation =
          "Without a device set from the local rank before the first use, every process takes device 0.",
      .fix = {.kind = FixKind::code,
              .text = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"])) first, or "
                      "init_process_group(device_id=...)"},
      .example = "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10",
      .signs =
          {
              {.pattern = "duplicate gpu detected", .certainty = 95},
              {.pattern = "rank*and rank*both on cuda device", .certainty = 95},
              {.pattern = "multiple ranks*same gpu", .certainty = 85},
              {.pattern =
                   "using gpu*to perform barrier as devices used by this process are currently unknown",
               .certainty = 60,
               .message =
                   "The process group does not know its device: pass device_id, or set the device first.",
               .most = Severity::info},
              {.pattern = "devices used by this process are currently unknown",
               .certainty = 58,
               .message =
                   "The process group does not know its device: pass device_id, or set the device first.",
               .most = Severity::info},
              {.pattern = "using the current device set by the user",
               .certainty = 20,
               .most = Severity::info},
              {.pattern = "no device id is provided via `init_process_group`",
               .certainty = 30,
               .most = Severity::info},
          },
      .checks = {{.needs = {Need::environment}, .run = check_same_device},
                 {.needs = {Need::program}, .run = check_chosen_device}},
  };
}

Rule other_gpus() {
  return {
      .id = "start/other-gpus",
      .codes = {"S-04"},
      .title = "ranks run on other GPUs than expected",
      .severity = Severity::warning,
      .needs = {Need::environment},
      .threshold =
          "GPUs of different kinds in a node, CUDA_VISIBLE_DEVICES set, CUDA_DEVICE_ORDER not PCI_BUS_ID",
      .source = "CUDA's environment variables",
      .message = "GPUs of different kinds, and the order of CUDA is not the order of the bus.",
      .explanation = "CUDA orders by speed, nvidia-smi by bus.",
      .fix = {.kind = FixKind::environment,
              .set = {"CUDA_DEVICE_ORDER=PCI_BUS_ID"},
              .text = "order devices by bus"},
      .example = "a node with an A100 and a T4",
      .checks = {{.needs = {Need::environment}, .run = machine_check<kind_remarks>}},
  };
}

}  // namespace

std::vector<Rule> start_same_device_rules() {
  return {same_device(), other_gpus()};
}

}  // namespace shardlab
