// Which device a rank uses.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule same_device() {
  return {
      .id = "start/same-device",
      .codes = {"E-05"},
      .title = "several ranks use the same device",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
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
               .only_info = true},
              {.pattern = "devices used by this process are currently unknown",
               .certainty = 58,
               .message =
                   "The process group does not know its device: pass device_id, or set the device first.",
               .only_info = true},
              {.pattern = "using the current device set by the user", .certainty = 20, .only_info = true},
              {.pattern = "no device id is provided via `init_process_group`",
               .certainty = 30,
               .only_info = true},
          },
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
  };
}

}  // namespace

std::vector<Rule> start_same_device_rules() {
  return {same_device(), other_gpus()};
}

}  // namespace shardlab
