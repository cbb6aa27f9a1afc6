#include "engine/cli/rank_program.h"

#include "engine/base/paths.h"

namespace shardlab {

Result<std::filesystem::path> rank_program(bool on_gpus) {
  std::error_code ignored;
  const std::filesystem::path for_gpus = program_folder() / "shardlab-rank-cuda";
  if (on_gpus && std::filesystem::exists(for_gpus, ignored)) return for_gpus;
  const std::filesystem::path program = program_folder() / "shardlab-rank";
  if (std::filesystem::exists(program, ignored)) return program;
  return not_possible(in_file(program.string()),
                      "there is no shardlab-rank, which runs one rank of a real run",
                      "`./run.sh run` builds it, and so does cmake's target shardlab-rank");
}

}  // namespace shardlab
