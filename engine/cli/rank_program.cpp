#include "engine/cli/rank_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/paths.h"
#include "engine/cli/rank_libraries.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

Result<fs::path> built_program(bool on_gpus) {
  std::error_code ignored;
  const fs::path for_gpus = program_folder() / "shardlab-rank-cuda";
  if (on_gpus && fs::exists(for_gpus, ignored)) return for_gpus;
  const fs::path program = program_folder() / "shardlab-rank";
  if (fs::exists(program, ignored)) return program;
  return not_possible(
      in_file(program.string()), "there is no shardlab-rank, which runs one rank of a real run",
      "in the source tree `./run.sh run` builds it, and so does cmake's target shardlab-rank; "
      "of the packages only Debian's leaves it out");
}

}  // namespace

Result<fs::path> rank_program(bool on_gpus) {
  SHARDLAB_TRY(fs::path program, built_program(on_gpus));
  SHARDLAB_CHECK_OK(take_libtorch_of_environment());
  SHARDLAB_TRY(const std::vector<std::string> missing, missing_libraries(program));
  if (missing.empty()) return program;
  return not_possible(
      in_file(program.string()), fmt::format("not found: {}", fmt::join(missing, ", ")),
      fmt::format(
          "real runs load the libtorch of torch {0}; where it moved or came from elsewhere (pip install "
          "torch=={0}), say where: export SHARDLAB_TORCH_DIR=$(python3 -c 'import torch; "
          "print(torch.__path__[0])')",
          torch_version()));
}

}  // namespace shardlab
