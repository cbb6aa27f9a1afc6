// Devices and processes of a node.
#include <fmt/format.h>
#include <cmath>
#include <optional>

#include "engine/base/parse.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/hardware/device.h"
#include "engine/machine/read_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_old_driver = "The driver is older than the CUDA that the program was built for.";
constexpr std::string_view k_update_driver =
    "update the driver (nvidia-smi shows its version and the newest CUDA it serves), or take a build for "
    "an older CUDA";

std::optional<int> number_in(const MachineFacts& machine, std::string_view name) {
  const std::string* value = variable(machine, name);
  const auto number = value == nullptr ? Result<std::int64_t>(-1) : parse_integer(*value);
  return number && *number >= 0 && *number < (1 << 20) ? std::optional(static_cast<int>(*number))
                                                       : std::nullopt;
}

std::vector<Evidence> device_evidence(const MachineFacts& machine, std::string_view name) {
  return {evidence_of_variable(machine, name), evidence_of_variable(machine, "CUDA_VISIBLE_DEVICES"),
          evidence_of_machine(machine, "nvidia-smi", count_of_gpus(machine))};
}

// A launcher that shows each process its own device and no other leaves number 0 to all of them.
std::vector<MachineRemark> ordinal_remarks(const Case&, const MachineFacts& machine) {
  const auto local = number_in(machine, "LOCAL_RANK");
  const int visible = visible_gpus(machine);
  if (!local || visible <= 1 || *local < visible || number_in(machine, "LOCAL_WORLD_SIZE")) return {};
  return {{fmt::format("LOCAL_RANK is {} on {}, which shows {} devices.", *local, name_of(machine), visible),
           Severity::error, device_evidence(machine, "LOCAL_RANK")}};
}

std::vector<MachineRemark> too_few_remarks(const MachineFacts& machine) {
  const auto processes = number_in(machine, "LOCAL_WORLD_SIZE");
  const int visible = visible_gpus(machine);
  if (!processes || machine.gpus.empty() || *processes <= visible || visible == 1) return {};
  return {
      {fmt::format("{} processes run on {}, which shows {} devices.", *processes, name_of(machine), visible),
       Severity::error, device_evidence(machine, "LOCAL_WORLD_SIZE")}};
}

// The CUDA that torch was built for, of its version: 12.6 of "2.7.0+cu126".
std::optional<double> cuda_of_torch(const MachineFacts& machine) {
  const auto torch = machine.packages.find("torch");
  constexpr std::string_view k_mark = "+cu";
  const std::size_t at = torch == machine.packages.end() ? std::string::npos : torch->second.find(k_mark);
  if (at == std::string::npos) return std::nullopt;
  const auto number = parse_integer(torch->second.substr(at + k_mark.size()));
  return number ? std::optional(static_cast<double>(*number) / 10) : std::nullopt;
}

// Programs run with a newer CUDA of the same major version than the driver's, not with the next one.
std::vector<MachineRemark> old_driver_remarks(const MachineFacts& machine) {
  const auto built_for = cuda_of_torch(machine);
  const auto driver = parse_number(machine.driver_cuda);
  if (!built_for || !driver || std::floor(*built_for) <= std::floor(*driver)) return {};
  return {{fmt::format("torch {} is built for CUDA {}, and the driver {} of {} serves CUDA {} at most.",
                       machine.packages.at("torch"), *built_for, machine.driver, name_of(machine),
                       machine.driver_cuda),
           Severity::error,
           {evidence_of_machine(machine, "nvidia-smi", "CUDA Version: " + machine.driver_cuda),
            evidence_of_machine(machine, "packages", "torch==" + machine.packages.at("torch"))}}};
}

std::vector<MachineRemark> device_remarks(const Case&, const MachineFacts& machine) {
  std::vector<MachineRemark> remarks = too_few_remarks(machine);
  for (MachineRemark& remark : old_driver_remarks(machine)) remarks.push_back(std::move(remark));
  return remarks;
}

// What the scenario runs on a node, which a GPU must be there for.
std::vector<MachineRemark> planned_remarks(const Case& facts, const MachineFacts& machine) {
  const Device& device = *facts.job->device;
  const int here = static_cast<int>(machine.gpus.size());
  if (device.kind == DeviceKind::cpu || !machine.says_gpus || here >= device.ranks_per_node) return {};
  return {{fmt::format("The scenario runs {} ranks a node, and {} has {}.", device.ranks_per_node,
                       name_of(machine), count_of_gpus(machine)),
           Severity::error,
           {evidence_of_machine(machine, "nvidia-smi", count_of_gpus(machine)),
            evidence_of_key(facts, "cluster.gpus_per_node")}}};
}

Rule device_ordinal() {
  return {
      .id = "start/device-ordinal",
      .codes = {"E-04"},
      .title = "a rank has no device",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::environment, Need::log},
      .threshold = "local rank not below the devices of the node",
      .source = "CUDA's cudaErrorInvalidDevice",
      .message = "A process asks for a device that the node does not have.",
      .explanation =
          "The local rank is used as the device's number; it must be below the number of visible devices.",
      .fix = {.kind = FixKind::command,
              .text = "start as many processes as there are visible devices (--nproc-per-node), or make more "
                      "visible"},
      .example = "RuntimeError: CUDA error: invalid device ordinal",
      .signs =
          {
              {.pattern = "device < num_gpus internal assert", .certainty = 80},
              {.pattern = "invalid device ordinal", .certainty = 94},
              {.pattern = "cudaerrorinvaliddevice", .certainty = 85},
              {.pattern = "device_id*out of range", .certainty = 75},
              {.pattern = "invalid device id", .certainty = 90},
              {.pattern = "assertionerror: invalid device id", .certainty = 92},
              {.pattern = "device index*out of range", .certainty = 70},
              {.pattern = "device ordinal*invalid", .certainty = 88},
              {.pattern = "invalid device argument", .certainty = 70},
              {.pattern = "device=*num_gpus=", .certainty = 75},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<ordinal_remarks>}},
  };
}

Rule fewer_devices() {
  return {
      .id = "start/fewer-devices",
      .codes = {"D-01"},
      .title = "fewer devices are visible than processes",
      .severity = Severity::error,
      .needs = {Need::files, Need::environment, Need::log, Need::configuration},
      .threshold = "visible devices below processes of the node",
      .source = "torch/cuda/__init__.py; NVML",
      .message = "The job sees no device, or fewer than it has processes.",
      .explanation =
          "CUDA_VISIBLE_DEVICES, the container, the scheduler's allocation or the driver hide them.",
      .fix = {.kind = FixKind::command,
              .text = "nvidia-smi -L and echo $CUDA_VISIBLE_DEVICES on every node; ask the scheduler for the "
                      "devices, give the container --gpus all"},
      .example = "RuntimeError: No CUDA GPUs are available",
      .signs =
          {
              {.pattern = "distributed package doesn't have nccl built in",
               .certainty = 86,
               .message =
                   "This PyTorch was built without NCCL: a build for processors, or for a system without it.",
               .fix = "install the CUDA build of PyTorch, or use gloo on processors"},
              {.pattern = "fsdp does not support cpu only execution", .certainty = 84},
              {.pattern = "fsdp needs a non-cpu accelerator device", .certainty = 84},
              {.pattern = "driver version is insufficient for cuda runtime version",
               .certainty = 88,
               .message = k_old_driver,
               .fix = k_update_driver},
              {.pattern = "the nvidia driver on your system is too old",
               .certainty = 88,
               .message = k_old_driver,
               .fix = k_update_driver},
              {.pattern = "cudaerrorinsufficientdriver",
               .certainty = 86,
               .message = k_old_driver,
               .fix = k_update_driver},
              {.pattern = "forward compatibility was attempted on non supported hw", .certainty = 88},
              {.pattern = "unsupported display driver / cuda driver combination", .certainty = 88},
              {.pattern = "cuda error: system not yet initialized",
               .certainty = 88,
               .message = "The device's driver is up and its fabric manager is not.",
               .fix = "start nvidia-fabricmanager of the version of the driver on every node with NVSwitch"},
              {.pattern = "system not yet initialized", .certainty = 72},
              {.pattern = "cuda initialization: unexpected error from cudagetdevicecount", .certainty = 78},
              {.pattern = "no hip gpus are available", .certainty = 92},
              {.pattern = "could not select device driver*capabilities: [[gpu]]",
               .certainty = 92,
               .message = "The container runtime has no support for GPUs.",
               .fix = "install the NVIDIA container toolkit, configure the runtime with nvidia-ctk and "
                      "restart it"},
              {.pattern = "nvidia-container-cli: initialization error", .certainty = 90},
              {.pattern = "nvidia-container-cli*driver error", .certainty = 88},
              {.pattern = "no nvidia gpu detected", .certainty = 80},
              {.pattern = "unable to proceed, no gpu resources available", .certainty = 90},
              {.pattern = "accelerator is not detected, cannot perform low precision training",
               .certainty = 84},
              {.pattern = "systemerror: cannot use*without accelerator", .certainty = 84},
              {.pattern = "there are currently no available devices found, must be one of", .certainty = 86},
              {.pattern = "requires at least*gpus", .certainty = 70},
              {.pattern = "couldn't communicate with the nvidia driver", .certainty = 88},
              {.pattern = "no cuda gpus are available", .certainty = 92},
              {.pattern = "no cuda-capable device is detected", .certainty = 92},
              {.pattern = "cuda driver initialization failed", .certainty = 85},
              {.pattern = "found no nvidia driver", .certainty = 90},
              {.pattern = "cuda unknown error - this may be due to", .certainty = 80},
              {.pattern = "processgroupnccl is only supported with gpus, no gpus found", .certainty = 95},
              {.pattern = "nccl*no gpus found", .certainty = 92},
              {.pattern = "torch not compiled with cuda enabled", .certainty = 85},
              {.pattern = "nproc_per_node*devices", .certainty = 65},
              {.pattern = "number of gpus*less than", .certainty = 72},
              {.pattern = "there aren't enough gpus", .certainty = 72},
              {.pattern = "slots*exceeds", .certainty = 50},
              {.pattern = "no slot*'*' specified", .certainty = 60},
              {.pattern = "no gpu*detected", .certainty = 70},
              {.pattern = "can't initialize nvml", .certainty = 75, .most = Severity::warning},
              {.pattern = "failed to initialize nvml", .certainty = 78},
              {.pattern = "unable to determine the device handle for gpu", .certainty = 72},
              {.pattern = "expected*visible devices", .certainty = 60},
              {.pattern = "nccl_device*count", .certainty = 30},
              {.pattern = "driver/library version mismatch", .certainty = 75},
          },
      .faults = {{.code = ErrorCode::too_few_devices}},
      .checks = {{.needs = {Need::environment}, .run = machine_check<device_remarks>},
                 {.needs = {Need::configuration, Need::environment}, .run = machine_check<planned_remarks>}},
  };
}

}  // namespace

std::vector<Rule> start_devices_rules() {
  return {device_ordinal(), fewer_devices()};
}

}  // namespace shardlab
