// Memory of the device that this process does not hold.
#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr double k_share = 0.10;  // of the device
constexpr Bytes k_least = mebibytes(512);

std::vector<Finding> check_other_holders(const Rule& rule, const Case& facts) {
  for (const SeenAllocation& failed : facts.log->allocations) {
    const AllocatorMessage& message = failed.message;
    const auto held = held_by_others(message);
    if (!held || *held <= k_least) continue;
    const double share = static_cast<double>(held->value) / static_cast<double>(message.capacity->value);
    if (share <= k_share) continue;
    Finding finding = finding_of(rule);
    finding.message = fmt::format(
        "{} of the device's {} are in use and not reserved by this process{}.", to_string(*held),
        to_string(*message.capacity),
        message.others ? fmt::format("; other processes are said to have {}", to_string(*message.others))
                       : std::string());
    finding.certainty = 93;
    finding.position = failed.at.line;
    finding.evidence.push_back(evidence_of(facts, failed.at));
    return {finding};
  }
  return {};
}

std::string holders_words(const MachineFacts& machine, const MachineGpu& gpu) {
  std::string names;
  for (const GpuProcess& process : machine.gpu_processes) {
    if (process.gpu != gpu.uuid) continue;
    names += fmt::format("{}{} ({}, {})", names.empty() ? "" : ", ", process.name, process.number,
                         to_string(process.used));
  }
  return names.empty() ? "by processes that the driver does not list" : "by " + names;
}

std::vector<MachineRemark> holder_remarks(const Case&, const MachineFacts& machine) {
  std::vector<MachineRemark> remarks;
  for (const MachineGpu& gpu : machine.gpus) {
    const double share = gpu.memory.value > 0
                             ? static_cast<double>(gpu.used.value) / static_cast<double>(gpu.memory.value)
                             : 0;
    if (gpu.used <= k_least || share <= k_share) continue;
    remarks.push_back(
        {fmt::format("{} of GPU {}'s {} on {} are held {}.", to_string(gpu.used), gpu.index,
                     to_string(gpu.memory), name_of(machine), holders_words(machine, gpu)),
         Severity::warning,
         {evidence_of_machine(machine, fmt::format("GPU {}", gpu.index), to_string(gpu.used) + " used")}});
  }
  return remarks;
}

Rule held_by_others() {
  return {
      .id = "memory/held-by-others",
      .codes = {"Y-16"},
      .title = "somebody else holds memory of the device",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .threshold = "total - free - reserved by this process above 10 % of the device and 0.5 GiB",
      .source = "c10/cuda/CUDACachingAllocator.cpp",
      .message = "Memory of the device is in use that this process has not reserved.",
      .explanation =
          "Total minus free minus what this process reserved is held by others: another job, a process that "
          "did not end, a notebook, a desktop, other ranks on the same device. The CUDA context of this "
          "process (about half a GiB) and NCCL's buffers are in it too.",
      .fix = {.kind = FixKind::command,
              .text = "nvidia-smi shows the processes of the device; end those that do not belong there, and "
                      "look whether several ranks use it"},
      .example =
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.39 GiB (GPU 0; 6.00 GiB "
          "total capacity; 4.04 GiB already allocated; 478.00 MiB free; 4.15 GiB reserved in total by "
          "PyTorch)",
      .signs =
          {
              {.pattern = "cuda-capable device(s) is/are busy or unavailable", .certainty = 86},
              {.pattern = "exclusive_process*mode", .certainty = 60},
              {.pattern = "cuda error: all cuda-capable devices are busy or unavailable", .certainty = 85},
              {.pattern = "cudaerrordevicesunavailable", .certainty = 80},
              {.pattern = "no available memory for the cache blocks", .certainty = 50},
              {.pattern = "free memory on device*is less than desired gpu memory utilization",
               .certainty = 88},
          },
      .checks = {{.needs = {Need::log}, .run = check_other_holders},
                 {.needs = {Need::environment}, .run = machine_check<holder_remarks>}},
  };
}

}  // namespace

std::vector<Rule> memory_held_by_others_rules() {
  return {held_by_others()};
}

}  // namespace shardlab
