// shardlab-rank: one rank of a real run. Started by `shardlab run`.
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "engine/base/text/printable.h"
#include "engine/execute/torch/rank_session.h"
#include "engine/planner/plan_scenario.h"

namespace {

using namespace shardlab;

// Ends with its launcher, however that ends.
void follow(int parent) {
  if (parent == 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_code(ErrorKind::run_failed));
}

// Buffers of a step are freed and taken again within it; memory that went back to the system in between would
// have to be cleared and mapped page by page each time. Measured memory counts what is asked for, not what
// the heap keeps.
void keep_heap() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
  ::mallopt(M_TOP_PAD, 64 << 20);
}

Result<RankEnvironment> own_environment() {
  SHARDLAB_TRY(const auto environment, rank_environment(current_environment()));
  if (environment) return *environment;
  return bad_input("RANK", "is not set", "shardlab-rank is started by `shardlab run`, not by hand");
}

int report(const Error& error) {
  std::fprintf(stderr, "%s\n", printable(to_string(error)).c_str());
  return exit_code(error.kind);
}

// Without destructors: a worker may still wait for a lost peer.
[[noreturn]] void end(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace

int main(int count, char** arguments) {
  const auto command = parse_rank_command(count, arguments);
  if (!command) return report(command.error());
  follow(command->parent);
  keep_heap();
  const auto environment = own_environment();
  if (!environment) return report(environment.error());
  const auto job = read_rank_job(command->job);
  const std::filesystem::path folder = command->job.parent_path();
  auto spool = SpoolWriter::create(spool_path(folder, environment->rank));
  if (!job) {
    if (spool) (void)spool->write(job.error());
    return report(job.error());
  }
  if (!spool) return report(spool.error());
  const RankServices services{[](const Scenario& scenario) { return plan_scenario(scenario); },
                              make_device_runtime, [](const Error& error) { end(report(error)); }};
  (void)run_rank(*job, folder, *environment, services, *spool);  // does not return with an error
  end(0);
}
