// What a launcher tells the ranks.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule no_launcher() {
  return {
      .id = "start/no-launcher",
      .codes = {"Y-13"},
      .title = "started without a launcher",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/distributed/rendezvous.py (env://)",
      .message =
          "The variables that a launcher sets are missing: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT or "
          "LOCAL_RANK.",
      .explanation =
          "torchrun, accelerate launch, deepspeed and srun with its own variables tell each process who it "
          "is.",
      .fix = {.kind = FixKind::command,
              .text = "start with a launcher: torchrun --nproc-per-node N train.py (shardlab export writes "
                      "the command)"},
      .example =
          "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable "
          "RANK expected, but not set",
      .signs =
          {
              {.pattern = "no module named 'mpi4py'",
               .certainty = 84,
               .frame = "mpi_discovery",
               .message =
                   "DeepSpeed finds no variables of a launcher, takes MPI for it and does not find that."},
              {.pattern = "local_rank is not in the environment", .certainty = 84},
              {.pattern = "we tried to initialize torch.distributed for you, but it failed", .certainty = 84},
              {.pattern = "requires the local_rank environment variable", .certainty = 84},
              {.pattern = "mismatch in local rank setting", .certainty = 70},
              {.pattern = "keyerror: 'node_rank'", .certainty = 84},
              {.pattern = "keyerror: 'local_world_size'", .certainty = 88},
              {.pattern = "keyerror: 'group_rank'", .certainty = 88},
              {.pattern = "keyerror: 'pmi_", .certainty = 80},
              {.pattern = "keyerror: 'flux_", .certainty = 78},
              {.pattern = "int() argument must be*not 'nonetype'", .certainty = 72, .frame = "environ"},
              {.pattern = "keyerror: 'rank", .certainty = 80},
              {.pattern = "keyerror: 'ompi_", .certainty = 85},
              {.pattern = "rendezvous: environment variable*expected, but not set", .certainty = 95},
              {.pattern = "environment variable*expected, but not set", .certainty = 94},
              {.pattern = "keyerror: 'rank'", .certainty = 84},
              {.pattern = "keyerror: 'local_rank'", .certainty = 90},
              {.pattern = "keyerror: 'world_size'", .certainty = 88},
              {.pattern = "keyerror: 'master_addr'", .certainty = 90},
              {.pattern = "keyerror: 'master_port'", .certainty = 90},
              {.pattern = "keyerror: 'slurm_", .certainty = 80},
              {.pattern = "default process group has not been initialized", .certainty = 82},
              {.pattern = "default process group*not*initialized", .certainty = 80},
              {.pattern = "please make sure to call init_process_group", .certainty = 82},
              {.pattern = "process group is not initialized", .certainty = 72},
              {.pattern = "process group not initialized", .certainty = 72},
              {.pattern = "using fsdp only works in distributed training", .certainty = 88},
              {.pattern = "you must initialize the accelerate state", .certainty = 80},
              {.pattern = "no required distributed*environment variables", .certainty = 60},
              {.pattern = "expected*env*local_rank", .certainty = 60},
              {.pattern = "not using distributed mode", .certainty = 40, .most = Severity::info},
              {.pattern = "setting world_size*1*launcher", .certainty = 50},
          },
  };
}

}  // namespace

std::vector<Rule> start_launcher_missing_rules() {
  return {no_launcher()};
}

}  // namespace shardlab
