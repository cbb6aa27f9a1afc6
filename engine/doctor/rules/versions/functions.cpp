// Functions that a version does not have.
#include <fmt/format.h>
#include <optional>
#include <sstream>
#include <utility>

#include "engine/doctor/case.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_other_toolkit =
    "An extension is compiled when it is first used, by the CUDA toolkit that is installed, and torch was "
    "built for another version of CUDA.";
constexpr std::string_view k_one_toolkit =
    "nvcc --version beside python -c \"import torch; print(torch.version.cuda)\": install the toolkit of "
    "torch's CUDA and point CUDA_HOME at it, or torch for the toolkit's; DS_SKIP_CUDA_CHECK=1 lets DeepSpeed "
    "try where only the second number differs";
constexpr std::string_view k_other_architecture =
    "torch.cuda.get_arch_list() beside nvidia-smi --query-gpu=compute_cap --format=csv: a torch that has the "
    "GPU, and extensions compiled again with TORCH_CUDA_ARCH_LIST for it";

// The first two numbers of a version; nothing where it has none.
std::optional<std::pair<int, int>> version_of(const MachineFacts& machine, const std::string& package) {
  const auto found = machine.packages.find(package);
  if (found == machine.packages.end()) return std::nullopt;
  std::istringstream stream(found->second);
  int major = 0, minor = 0;
  char dot = 0;
  if (!(stream >> major >> dot >> minor) || dot != '.') return std::nullopt;
  return std::pair(major, minor);
}

std::vector<MachineRemark> version_remarks(const Case& facts, const MachineFacts& machine) {
  constexpr std::pair<int, int> k_public_fully_shard{2, 6};
  const auto torch = version_of(machine, "torch");
  const bool is_fsdp2 = facts_of(*facts.job->scenario).framework == Framework::fsdp2;
  if (!is_fsdp2 || !torch || *torch >= k_public_fully_shard) return {};
  return {{fmt::format("torch {} of {} has no public fully_shard, which came with 2.6.",
                       machine.packages.at("torch"), name_of(machine)),
           Severity::error,
           {evidence_of_machine(machine, "packages", "torch==" + machine.packages.at("torch")),
            evidence_of_key(facts, "parallel.strategy")}}};
}

std::vector<Finding> check_path(const Rule& rule, const Case& facts) {
  const auto imported = first_line_with(
      *facts.program, {"torch.distributed._composable", "torch.distributed.fsdp._fully_shard"});
  if (!imported) return {};
  Finding finding = finding_of_program(rule, 60, {*imported});
  finding.severity = Severity::info;
  finding.message = "fully_shard is imported from where it was before it was public.";
  return {finding};
}

// DeepSpeed says the same where it goes on.
LogSign of_other_toolkit(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 75,
          .unless = {"accepting this combination", "allowing this combination"},
          .message = k_other_toolkit,
          .fix = k_one_toolkit};
}

LogSign of_bitsandbytes(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 74,
          .message = "bitsandbytes has no library for the CUDA that it finds here.",
          .fix =
              "python -m bitsandbytes says what it looked for; a version of it that was built for "
              "torch.version.cuda, and no other libcudart in LD_LIBRARY_PATH"};
}

Rule function_not_found() {
  return {
      .id = "versions/function-not-found",
      .codes = {"S-03"},
      .title = "a function or class is not in this version",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::environment, Need::log},
      .source = "PyTorch's release notes",
      .message = "The installed library is older or newer than the interface that is used.",
      .explanation =
          "fully_shard is at a composable path from 2.4, public from 2.6; sharding strategies came in 1.12. "
          "Other names moved likewise.",
      .fix = {.kind = FixKind::command,
              .text = "compare pip show torch transformers accelerate deepspeed with what the program was "
                      "written for, and change one of them"},
      .example =
          "ImportError: cannot import name 'ShardingStrategy' from "
          "'torch.distributed.fsdp.fully_sharded_data_parallel'",
      .signs =
          {
              {.pattern = "flashattention2 has been toggled on, but it cannot be used", .certainty = 84},
              {.pattern = "flash_attn seems to be not installed", .certainty = 82},
              {.pattern = "got an unexpected keyword argument",
               .certainty = 66,
               .frame = "site-packages/accelerate"},
              {.pattern = "fully_shard() got an unexpected keyword argument", .certainty = 86},
              {.pattern = "has no attribute 'torch_dtype'", .certainty = 60},
              {.pattern = "is only available in pytorch", .certainty = 74},
              {.pattern = "requires pytorch version", .certainty = 72},
              {.pattern = "requires `accelerate`. you can install it", .certainty = 82},
              {.pattern = "but transformers does not recognize this architecture",
               .certainty = 88,
               .message = "This version of transformers does not have the model's architecture.",
               .fix = "pip install --upgrade transformers, or trust_remote_code=True where the model brings "
                      "its own code"},
              {.pattern = "importerror: *requires*>=", .certainty = 74, .unless = {"compute capability"}},
              {.pattern = "importerror: *version must be >=", .certainty = 78},
              {.pattern = "importerror: *was not found on your system", .certainty = 78},
              {.pattern = "importerror: *is not installed => run", .certainty = 80},
              {.pattern = "importerror: *is not available => install it", .certainty = 80},
              {.pattern = "importerror: *is not available. please install", .certainty = 78},
              {.pattern = "runtimeerror: launcher '*' not installed", .certainty = 80},
              {.pattern = "please upgrade*pytorch", .certainty = 66},
              {.pattern = "importerror: cannot import name", .certainty = 78},
              {.pattern = "cannot import name", .certainty = 72},
              {.pattern = "module 'torch*has no attribute", .certainty = 76},
              {.pattern = "module 'deepspeed*has no attribute", .certainty = 76},
              {.pattern = "module 'transformers*has no attribute", .certainty = 76},
              {.pattern = "module 'accelerate*has no attribute", .certainty = 76},
              {.pattern = "attributeerror: 'accelerator' object has no attribute", .certainty = 72},
              {.pattern = "attributeerror: 'deepspeed*object has no attribute", .certainty = 72},
              {.pattern = "attributeerror: 'trainingarguments' object has no attribute", .certainty = 72},
              {.pattern = "attributeerror: 'deepspeedcpuadam' object has no attribute 'ds_opt_",
               .certainty = 76,
               .message = "DeepSpeed's Adam for processors was not built; why, its compiler said above.",
               .fix = k_one_toolkit},
              of_bitsandbytes("cuda setup failed despite"),
              of_bitsandbytes("could not find the bitsandbytes cuda binary"),
              of_bitsandbytes("name 'str2optimizer"),
              {.pattern = "modulenotfounderror: no module named 'torch.", .certainty = 80},
              {.pattern = "modulenotfounderror: no module named",
               .certainty = 60,
               .message = "A package, or a part of it, is not in the environment that the processes run in.",
               .fix = "python -m pip show PACKAGE with the python that the launcher starts (the log's "
                      "tracebacks name it); install it there, or the version that has the part"},
              {.pattern = "undefined symbol:",
               .certainty = 76,
               .message = "A compiled library was built for another version of PyTorch, CUDA or NCCL than "
                          "the one that is loaded.",
               .fix = "pip list | grep -iE 'torch|nccl|cuda' and LD_LIBRARY_PATH show what is loaded: one "
                      "NCCL, of the CUDA of torch; build the extension again for it"},
              {.pattern = "requires accelerate>=", .certainty = 80},
              {.pattern = "requires*version of*accelerate", .certainty = 70},
              {.pattern = "using the `trainer` with `pytorch` requires `accelerate", .certainty = 85},
              {.pattern = "requires pytorch*>=", .certainty = 72},
              {.pattern = "requires torch*>=", .certainty = 72, .unless = {"falling back"}},
              {.pattern = "is required for a normal functioning of this module, but found", .certainty = 84},
              {.pattern = "fsdp requires pytorch", .certainty = 80},
              {.pattern = "FSDP2 requires pytorch", .certainty = 84},
              {.pattern = "the following operator*not*compiled", .certainty = 30},
              of_other_toolkit("the detected cuda version*mismatches the version that was used to compile"),
              of_other_toolkit("cudamismatchexception"),
              of_other_toolkit("does not match the version torch was compiled with"),
              of_other_toolkit("installed cuda version*does not match"),
              {.pattern = "hip error: invalid device function",
               .certainty = 74,
               .message = "A library was compiled for other GPUs than this one.",
               .fix =
                   "install the build of the library for this GPU (rocminfo names it, gfx90a for example), "
                   "or build it with PYTORCH_ROCM_ARCH"},
              {.pattern = "no kernel image is available for execution on the device",
               .certainty = 74,
               .message = "A library was compiled for other GPUs than this one.",
               .fix = k_other_architecture},
              {.pattern = "has no attribute 'fully_shard'", .certainty = 88},
              {.pattern = "object has no attribute 'no_sync'", .certainty = 72},
              {.pattern = "has no attribute 'set_requires_gradient_sync'", .certainty = 82},
              {.pattern = "has no attribute 'clip_grad_norm_'", .certainty = 70},
          },
      .checks = {{.needs = {Need::configuration, Need::environment}, .run = machine_check<version_remarks>}},
  };
}

Rule fsdp2_path() {
  return {
      .id = "versions/fsdp2-path",
      .codes = {"B-19"},
      .title = "FSDP2 is imported from where it is not",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log, Need::program},
      .source = "PyTorch's release notes",
      .message = "fully_shard is imported from a path that this version does not have.",
      .explanation =
          "The public path is torch.distributed.fsdp since 2.6; the composable path was its first home.",
      .fix = {.kind = FixKind::code,
              .text = "from torch.distributed.fsdp import fully_shard (2.6 and later)"},
      .example = "ImportError: cannot import name 'fully_shard' from 'torch.distributed._composable.fsdp'",
      .signs =
          {
              {.pattern = "cannot import name 'fully_shard'", .certainty = 90},
              {.pattern = "cannot import name 'fsdpmodule'", .certainty = 88},
              {.pattern = "cannot import name 'mixedprecisionpolicy'", .certainty = 88},
              {.pattern = "cannot import name 'cpuoffloadpolicy'", .certainty = 88},
              {.pattern = "cannot import name 'offloadpolicy'", .certainty = 86},
              {.pattern = "no module named 'torch.distributed._composable", .certainty = 90},
              {.pattern = "no module named 'torch.distributed.fsdp._fully_shard", .certainty = 90},
              {.pattern = "no module named 'torch.distributed._composable_state", .certainty = 85},
          },
      .checks = {{.needs = {Need::program}, .run = check_path}},
  };
}

}  // namespace

std::vector<Rule> versions_functions_rules() {
  return {function_not_found(), fsdp2_path()};
}

}  // namespace shardlab
