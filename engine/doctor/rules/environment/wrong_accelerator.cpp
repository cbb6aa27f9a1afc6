// The accelerator that DeepSpeed uses.
#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<MachineRemark> accelerator_remarks(const Case&, const MachineFacts& machine) {
  const std::string* named = variable(machine, "DS_ACCELERATOR");
  if (named == nullptr || !machine.says_gpus) return {};
  const std::vector<Evidence> evidence = {evidence_of_variable(machine, "DS_ACCELERATOR"),
                                          evidence_of_machine(machine, "nvidia-smi", count_of_gpus(machine))};
  if (*named == "cuda" && machine.gpus.empty())
    return {{"DS_ACCELERATOR is cuda, and the driver lists no GPU.", Severity::error, evidence}};
  if (*named != "cuda" && !machine.gpus.empty())
    return {{fmt::format("DS_ACCELERATOR is {}: DeepSpeed leaves the {} GPUs of {} alone.", *named,
                         machine.gpus.size(), name_of(machine)),
             Severity::warning, evidence}};
  return {};
}

Rule wrong_accelerator() {
  return {
      .id = "environment/wrong-accelerator",
      .codes = {"S-08"},
      .title = "the wrong accelerator is named",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "deepspeed/accelerator/real_accelerator.py",
      .message = "DS_ACCELERATOR names hardware that is not there.",
      .explanation = "DeepSpeed imports the accelerator's package before it looks for devices.",
      .fix = {.kind = FixKind::environment,
              .text = "unset DS_ACCELERATOR, so that it is detected, or name what is there"},
      .example =
          "ValueError: XPU_Accelerator requires intel_extension_for_deepspeed, which is not installed on "
          "this system.",
      .signs =
          {
              {.pattern = "_accelerator requires*which is not installed", .certainty = 94},
              {.pattern = "accelerator requires intel_extension", .certainty = 92},
              {.pattern = "ds_accelerator must be one of", .certainty = 94},
              {.pattern = "ds_accelerator",
               .certainty = 60,
               .unless = {"setting ds_accelerator to cuda", "auto detect", "env variable to cuda"}},
              {.pattern = "value for ds_accelerator", .certainty = 90},
              {.pattern = "warning: setting accelerator to cpu", .certainty = 60, .most = Severity::info},
              {.pattern = "setting ds_accelerator to cpu", .certainty = 45, .most = Severity::info},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<accelerator_remarks>}},
  };
}

}  // namespace

std::vector<Rule> environment_wrong_accelerator_rules() {
  return {wrong_accelerator()};
}

}  // namespace shardlab
