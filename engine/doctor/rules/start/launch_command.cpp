// The launcher and what it tells the ranks.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_hostfile = "DeepSpeed's hostfile does not name the nodes of the job.";
constexpr std::string_view k_hostfile_fix =
    "a line for each node in the hostfile: its name as ssh knows it, and slots=N for its number of GPUs";

Rule incomplete_launch() {
  return {
      .id = "start/incomplete-launch",
      .codes = {"B-26"},
      .title = "the launch of several nodes is incomplete",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "torch/distributed/run.py",
      .message = "A node was started without its node rank, head address or port.",
      .explanation =
          "torchrun on several nodes needs --nnodes, --node-rank (or a rendezvous id), --master-addr and "
          "--master-port, or --rdzv-endpoint.",
      .fix = {.kind = FixKind::command,
              .text =
                  "complete the command on every node (shardlab export --to torchrun or slurm writes it)"},
      .example = "torchrun: error: unrecognized arguments: --node_rnk",
      .signs =
          {
              {.pattern = "is absent in rendezvousparameters", .certainty = 86},
              {.pattern = "port is absent in endpoint", .certainty = 84},
              {.pattern = "torchrun: error", .certainty = 80},
              {.pattern = "run.py: error:", .certainty = 60},
              {.pattern = "launch.py: error", .certainty = 72},
              {.pattern = "node_rank*required", .certainty = 80},
              {.pattern = "need to specify the main process ip", .certainty = 86},
              {.pattern = "need to specify the main process port", .certainty = 86},
              {.pattern = "with multinode, but `master_addr` env was not set", .certainty = 86},
              {.pattern = "but no extra nodes available via hostfile",
               .certainty = 86,
               .message = k_hostfile,
               .fix = k_hostfile_fix},
              {.pattern = "hostfile contains*unable to proceed with launching",
               .certainty = 86,
               .message = k_hostfile,
               .fix = k_hostfile_fix},
              {.pattern = "hostfile is empty or not formatted correctly",
               .certainty = 86,
               .message = k_hostfile,
               .fix = k_hostfile_fix},
              {.pattern = "hostname '*' not found in hostfile",
               .certainty = 86,
               .message = k_hostfile,
               .fix = k_hostfile_fix},
              {.pattern = "main_process_ip*required", .certainty = 85},
              {.pattern = "you need to*main_process_port", .certainty = 60},
              {.pattern = "num_machines*main_process_ip", .certainty = 80},
              {.pattern = "invalid value for --rdzv", .certainty = 75},
              {.pattern = "hostfile*not found", .certainty = 50, .most = Severity::info},
              {.pattern = "unable to find hostfile, will proceed with training with local resources only",
               .certainty = 40,
               .message = "No hostfile: DeepSpeed starts on this node alone.",
               .most = Severity::info},
              {.pattern = "when using*multiple nodes*you need", .certainty = 60},
              {.pattern = "world_size*not*nnodes*nproc", .certainty = 60},
          },
      .faults = {{.code = ErrorCode::incomplete_launch}},
  };
}

Rule nodes_differ() {
  return {
      .id = "start/nodes-differ",
      .codes = {"D-31"},
      .title = "the nodes were launched inconsistently",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "torch/distributed/elastic/agent",
      .message = "Two nodes have the same rank, or differ in head address, port or size.",
      .explanation = "Every node needs its own rank and the same rest.",
      .fix = {.kind = FixKind::command, .text = "one command for each node, from the exporter; compare them"},
      .example = "ValueError: Duplicate node rank",
      .signs =
          {
              {.pattern = "ranks has already checked in",
               .certainty = 90,
               .message =
                   "Two processes say that they are the same rank: nodes were started with the same node "
                   "rank."},
              {.pattern = "duplicate*rank",
               .certainty = 55,
               .unless = {"gpu", "cuda", "deduplicat", "zero rank", "partition ranks",
                          "split group cannot have"}},
              {.pattern = "inconsistent*nproc", .certainty = 70},
              {.pattern = "world size*doesn't match*nodes", .certainty = 70},
              {.pattern = "same rank*already", .certainty = 72},
              {.pattern = "detected*ranks with the same", .certainty = 70},
              {.pattern = "number of nodes*differ", .certainty = 60},
              {.pattern = "node rank*must be less than", .certainty = 85},
              {.pattern = "node_rank*out of range", .certainty = 85},
              {.pattern = "rank*should be*less than world_size", .certainty = 80},
              {.pattern = "invalid rank*world size", .certainty = 80},
              {.pattern = "invalid rank", .certainty = 66, .unless = {"invalid ranking"}},
          },
      .faults = {{.code = ErrorCode::inconsistent_launch}},
  };
}

}  // namespace

std::vector<Rule> start_launch_command_rules() {
  return {incomplete_launch(), nodes_differ()};
}

}  // namespace shardlab
