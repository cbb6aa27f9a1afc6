// shardlab-rank of a build without libtorch: says so, in the spool and on standard error.
#include <cstdio>

#include "engine/execute/rank_options.h"
#include "engine/execute/spool.h"

int main(int count, char** arguments) {
  const shardlab::Error error{
      shardlab::ErrorKind::not_possible, "run", "this build has no libtorch, so it cannot train for real",
      "run ./run.sh, or configure with SHARDLAB_WITH_TORCH=ON; `shardlab simulate` works without it"};
  if (const auto options = shardlab::parse_rank_options(count, arguments)) {
    if (auto spool = shardlab::SpoolWriter::create(options->spool)) (void)spool->write(error);
  }
  std::fprintf(stderr, "%s\n", shardlab::to_string(error).c_str());
  return shardlab::exit_code(error.kind);
}
