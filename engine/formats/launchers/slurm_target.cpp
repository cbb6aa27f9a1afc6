#include <algorithm>

#include <fmt/format.h>

#include "engine/formats/launchers/launcher_targets.h"
#include "engine/formats/tools/comment_block.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab {
namespace {

// Processors of the node's one task, whose ranks share them. Slurm gives a task a single core where nobody
// asks for more. Cores are asked for rather than threads, which not every cluster counts.
std::string processor_lines(const ExportSubject& subject) {
  const ClusterSpec& cluster = *subject.scenario.cluster;
  const int ranks = ranks_per_node(subject);
  if (on_processors(subject))
    return fmt::format("#SBATCH --cpus-per-task={}\n", ranks * cluster.threads_per_rank);
  const auto device = resolve_device(cluster);
  const int cores = device ? std::max(1, device->host.cores) : 1;
  const std::string whose =
      cluster.node.empty() ? "as is usual; say what your nodes have" : "as " + cluster.node + " has";
  return fmt::format("# {} cores for each GPU, {}\n#SBATCH --cpus-per-task={}\n", cores, whose,
                     ranks * cores);
}

// One task a node, which starts the node's ranks.
std::string batch_lines(const ExportSubject& subject) {
  const std::string lines =
      fmt::format("#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n", subject.stem,
                  nodes(subject)) +
      processor_lines(subject);
  if (on_processors(subject)) return lines;
  return lines + fmt::format("#SBATCH --gpus-per-node={}\n#SBATCH --exclusive\n", ranks_per_node(subject));
}

std::vector<ExportedFile> write_batch_script(const ExportSubject& subject,
                                             std::span<const std::string> head) {
  const std::string name = subject.stem + ".sbatch";
  std::string text = "#!/bin/bash\n" + batch_lines(subject);
  text += comment_block(head);
  text += fmt::format("# sbatch {} PROGRAM [ARGUMENTS]\nset -eu\n", name) + environment_lines(subject);
  text += fmt::format(
      "head=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
      "# srun does not take the job's --cpus-per-task by itself, since Slurm 22.05.\n"
      "srun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\" torchrun --nnodes=\"$SLURM_NNODES\" --nproc-per-node={} "
      "\\\n"
      "  --rdzv-backend=c10d --rdzv-endpoint=\"$head:29500\" --rdzv-id=\"$SLURM_JOB_ID\" \"$@\"\n",
      ranks_per_node(subject));
  return {{name, text, true}};
}

}  // namespace

ExportTarget slurm_target() {
  return {"slurm",
          "torch 2.11",
          "a batch script that starts torchrun on every node",
          environment_problem,
          {{launcher_keys(), nullptr}},
          {launcher_rules(), unspoken_rules()},
          write_batch_script};
}

}  // namespace shardlab
