#include <fmt/format.h>

#include "engine/formats/launchers/launcher_targets.h"
#include "engine/formats/tools/comment_block.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

std::string with_port(const std::string& master) {
  return master.find(':') == std::string::npos ? master + ":29500" : master;
}

// Without a name in the scenario whoever starts the nodes says which of them is the first.
std::string several_nodes(const ExportSubject& subject) {
  const std::string& master = subject.scenario.launch->master;
  const std::string endpoint = master.empty() ? "\"$HEAD:29500\"" : shell_quoted(with_port(master));
  const std::string asks =
      master.empty() ? ": \"${HEAD:?must be the host name of the first node, the same on every node}\"\n"
                     : "";
  return fmt::format(
      "# Start this on every node.\n{}exec torchrun --nnodes={} --nproc-per-node={} --rdzv-backend=c10d "
      "--rdzv-endpoint={} \\\n  --rdzv-id={} \"$@\"\n",
      asks, nodes(subject), ranks_per_node(subject), endpoint, shell_quoted(subject.stem));
}

std::vector<ExportedFile> write_launch_script(const ExportSubject& subject,
                                              std::span<const std::string> head) {
  std::string text = "#!/usr/bin/env bash\n";
  text += comment_block(head);
  const std::string name = subject.stem + ".torchrun.sh";
  text += fmt::format("# ./{} PROGRAM [ARGUMENTS]\nset -eu\n", name) + environment_lines(subject);
  text += nodes(subject) > 1 ? several_nodes(subject)
                             : fmt::format("exec torchrun --standalone --nproc-per-node={} \"$@\"\n",
                                           ranks_per_node(subject));
  return {{name, text, true}};
}

}  // namespace

ExportTarget torchrun_target() {
  return {"torchrun",
          "2.11",
          "a script that starts the ranks of every node",
          environment_problem,
          {{launcher_keys(), nullptr}},
          {launcher_rules(), unspoken_rules()},
          write_launch_script};
}

}  // namespace shardlab
