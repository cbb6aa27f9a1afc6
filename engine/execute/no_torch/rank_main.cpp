// shardlab-rank of a build without libtorch: says so, in the spool and on standard error.
#include <cstdio>

#include "engine/base/text/printable.h"
#include "engine/execute/rank_job.h"
#include "engine/execute/spool.h"

int main(int count, char** arguments) {
  const shardlab::Error error{
      shardlab::ErrorKind::not_possible, "run", "this build has no libtorch, so it cannot train for real",
      "run ./run.sh, or configure with SHARDLAB_WITH_TORCH=ON; `shardlab simulate` works without it"};
  const auto command = shardlab::parse_rank_command(count, arguments);
  const auto environment = shardlab::rank_environment(shardlab::current_environment());
  if (command && environment && *environment) {
    auto spool =
        shardlab::SpoolWriter::create(shardlab::spool_path(command->job.parent_path(), (*environment)->rank));
    if (spool) (void)spool->write(error);
  }
  std::fprintf(stderr, "%s\n", shardlab::printable(to_string(error)).c_str());
  return shardlab::exit_code(error.kind);
}
