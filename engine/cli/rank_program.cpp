#include "engine/cli/rank_program.h"

#include "engine/base/paths.h"

namespace shardlab {

Result<std::filesystem::path> rank_program() {
  const std::filesystem::path program = program_folder() / "shardlab-rank";
  std::error_code ignored;
  if (std::filesystem::exists(program, ignored)) return program;
  return not_possible(program.string(), "there is no shardlab-rank, which runs one rank of a real run",
                      "build it: it is a target of its own beside shardlab");
}

}  // namespace shardlab
