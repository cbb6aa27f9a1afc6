#include <fmt/format.h>

#include "engine/formats/launchers/launcher_targets.h"
#include "engine/formats/tools/comment_block.h"
#include "engine/formats/tools/program_rules.h"

namespace shardlab {
namespace {

// One task a node, which starts the node's ranks.
std::string batch_lines(const ExportSubject& subject) {
  std::string lines = fmt::format("#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node=1\n",
                                  subject.stem, nodes(subject));
  if (on_processors(subject))
    return lines + fmt::format("#SBATCH --cpus-per-task={}\n", ranks_per_node(subject));
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
      "srun torchrun --nnodes=\"$SLURM_NNODES\" --nproc-per-node={} --rdzv-backend=c10d "
      "--rdzv-endpoint=\"$head:29500\" \\\n  --rdzv-id=\"$SLURM_JOB_ID\" \"$@\"\n",
      ranks_per_node(subject));
  return {{name, text, true}};
}

}  // namespace

ExportTarget slurm_target() {
  return {"slurm",
          "2.11",
          "a batch script that starts torchrun on every node",
          environment_problem,
          {{launcher_keys(), nullptr}},
          {launcher_rules(), unspoken_rules()},
          write_batch_script};
}

}  // namespace shardlab
