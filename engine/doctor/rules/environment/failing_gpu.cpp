// GPUs that are broken.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_lost_gpu =
    "A GPU does not answer any more: power, heat, its slot or the card itself.";
constexpr std::string_view k_gpu_memory = "The memory of a GPU has errors that it cannot correct.";
constexpr std::string_view k_gpu_controller = "A GPU's own controllers do not answer the driver.";

LogSign of_lost_gpu(std::string_view pattern, int certainty) {
  return {.pattern = pattern, .certainty = certainty, .message = k_lost_gpu};
}
LogSign of_gpu_memory(std::string_view pattern) {
  return {.pattern = pattern, .certainty = 88, .message = k_gpu_memory};
}
LogSign of_gpu_controller(std::string_view pattern) {
  return {.pattern = pattern, .certainty = 88, .message = k_gpu_controller};
}

Rule failing_gpu() {
  return {
      .id = "environment/failing-gpu",
      .codes = {"Y-21"},
      .title = "a GPU is failing",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "NVIDIA's list of Xid errors; the CUDA runtime's cudaErrorECCUncorrectable",
      .message = "A GPU has failed: the driver has lost it, or its memory cannot be trusted.",
      .explanation =
          "What ran on it ends, and the other ranks notice a lost peer. Xid 79 is a GPU that has left the "
          "bus; 48, 63, 64, 94, 95 and 140 are about its memory, 61, 62, 119 and 120 about its controllers. "
          "Another try on the same node fails like this one.",
      .fix = {.kind = FixKind::command,
              .text = "take the node out of the job and drain it (scontrol update nodename=NODE state=drain "
                      "reason=gpu), reset the GPU (nvidia-smi --gpu-reset -i N) or reboot, and have it "
                      "replaced if the error returns; nvidia-smi -q -d ECC,ROW_REMAPPER and dmesg name it"},
      .example =
          "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
      .signs =
          {
              of_lost_gpu("fallen off the bus", 92),
              of_lost_gpu("nvrm: xid*: 79,", 92),
              of_lost_gpu("gpu is lost", 86),
              of_lost_gpu("unable to determine the device handle*unknown error", 84),
              of_gpu_memory("uncorrectable ecc error"),
              of_gpu_memory("cudaerroreccuncorrectable"),
              of_gpu_memory("nvrm: xid*: 48,"),
              of_gpu_memory("nvrm: xid*: 63,"),
              of_gpu_memory("nvrm: xid*: 64,"),
              of_gpu_memory("nvrm: xid*: 94,"),
              of_gpu_memory("nvrm: xid*: 95,"),
              of_gpu_memory("nvrm: xid*: 140,"),
              of_gpu_controller("nvrm: xid*: 61,"),
              of_gpu_controller("nvrm: xid*: 62,"),
              of_gpu_controller("nvrm: xid*: 119,"),
              of_gpu_controller("nvrm: xid*: 120,"),
              {.pattern = "nvrm: xid",
               .certainty = 70,
               .message = "The driver reports an error of a GPU; its number says what it is.",
               .fix = "NVIDIA's list of Xid errors has the number: an error of the program (13, 31, 43, 45), "
                      "of NVLink (74, 144 to 150), or of the device, which is then taken out of the job"},
          },
  };
}

}  // namespace

std::vector<Rule> environment_failing_gpu_rules() {
  return {failing_gpu()};
}

}  // namespace shardlab
