// The processes that a launcher (torchrun, srun, mpirun) started for one command: rank 0 does the command,
// and for each run and each list of probes in it every process becomes its rank.
#pragma once

#include <filesystem>
#include <functional>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/execute/launch.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/rank_orders.h"

namespace shardlab {

// Rank 0's view of the others.
class RankTeam {
 public:
  // `folder` is one that all processes see, and that others use for nothing else. Waits for nobody yet.
  static Result<RankTeam> create(const RankEnvironment& environment, const std::filesystem::path& folder);

  // A folder in the team's for the ranks' files of one run; not made.
  std::filesystem::path new_run_directory();

  // The job, with this process as rank 0; returns when all ranks have ended or cannot be waited for. The
  // first job waits for the others as long as ranks wait for each other (launch.timeout). bad_input when the
  // scenario asks for other ranks or another launcher, run_failed when one does not come or fails.
  Status run_job(const Scenario& scenario, const RankJob& job, const LaunchOptions& options);

  // The others end with this code. Waits a few seconds for them.
  void dismiss(int exit_code);

  // Processor time that the others on this host had until the last job's end.
  Nanoseconds own_time_of_others() const { return own_of_others_; }

  const RankEnvironment& environment() const { return environment_; }

 private:
  RankTeam(const RankEnvironment& environment, std::filesystem::path folder, OrderWriter orders)
      : environment_(environment), folder_(std::move(folder)), orders_(std::move(orders)) {}

  Status meet(std::chrono::milliseconds patience);
  void collect_reports();

  RankEnvironment environment_;
  std::filesystem::path folder_;
  OrderWriter orders_;
  bool has_met_ = false;
  int runs_ = 0;
  Nanoseconds own_of_others_;
};

// Which program runs a rank, on GPUs or not.
using FindRankProgram = std::function<Result<std::filesystem::path>(bool on_gpus)>;

// What every other process does: it becomes its rank for each job that rank 0 orders, and returns the code
// that rank 0 ends with. Its own failures are rank 0's to explain; where rank 0 has no more orders within
// half a minute after one they are returned. run_failed when no order comes in `patience`,
// not_possible when the folder is a link or another user's.
Result<int> follow_rank_0(const RankEnvironment& environment, const std::filesystem::path& folder,
                          const FindRankProgram& find_program,
                          std::chrono::milliseconds patience = std::chrono::minutes(10));

}  // namespace shardlab
