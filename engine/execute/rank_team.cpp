#include "engine/execute/rank_team.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/execute/collective_timeout.h"
#include "engine/execute/machine.h"
#include "engine/execute/processor_use.h"
#include "engine/execute/run_folder.h"
#include "engine/execute/start_ranks.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// For what is said rather than done: a report, a farewell.
constexpr std::chrono::seconds k_moment{10};
// As long as ranks get to report after the first failure (start_ranks.cpp).
constexpr std::chrono::seconds k_grace{30};

Status do_own_part(const fs::path& file, const RankEnvironment& environment,
                   const FindRankProgram& find_program) {
  SHARDLAB_TRY(const RankJob job, read_rank_job(file));
  SHARDLAB_TRY(const Scenario scenario, scenario_of(job));
  LaunchOptions options;
  SHARDLAB_TRY(options.rank_program, find_program(scenario.cluster->device != DeviceKind::cpu));
  options.run_directory = file.parent_path();
  return start_given_job(scenario, job, file, options, environment);
}

RankReport report_of(const Status& status) {
  RankReport report;
  report.host = host_identity();
  report.own = own_processor_time();
  if (!status) report.error = status.error();
  return report;
}

}  // namespace

Result<RankTeam> RankTeam::create(const RankEnvironment& environment, const fs::path& folder) {
  SHARDLAB_TRY(OrderWriter orders, OrderWriter::create(folder, environment.world));
  return RankTeam(environment, folder, std::move(orders));
}

fs::path RankTeam::new_run_directory() {
  return folder_ / fmt::format("run-{}", ++runs_);
}

Status RankTeam::meet(std::chrono::milliseconds patience) {
  if (has_met_) return {};
  const std::vector<int> missing = orders_.gather(patience);
  has_met_ = true;
  if (missing.empty()) return {};
  return run_failed(
      in_file(folder_.string()),
      fmt::format("{} {} of {} did not come here within {} s", missing.size() == 1 ? "rank" : "ranks",
                  fmt::join(missing, ", "), environment_.world, static_cast<double>(patience.count()) / 1000),
      "the launcher must start all of them with this command, in one folder that their machines share");
}

Status RankTeam::run_job(const Scenario& scenario, const RankJob& job, const LaunchOptions& options) {
  SHARDLAB_CHECK_OK(check_launcher(scenario, environment_));
  SHARDLAB_CHECK_OK(meet(arrival_timeout(scenario)));
  const fs::path file = fs::absolute(rank_job_path(options.run_directory));
  SHARDLAB_CHECK_OK(write_rank_job(file, job));
  SHARDLAB_CHECK_OK(orders_.write({file, 0}));
  Status done = start_given_job(scenario, job, file, options, environment_);
  collect_reports();
  return done;
}

void RankTeam::collect_reports() {
  own_of_others_ = {};
  const std::string host = host_identity();
  for (const auto& report : orders_.reports(k_grace))
    if (report && report->host == host) own_of_others_ += report->own;
}

void RankTeam::dismiss(int exit_code) {
  (void)meet(k_moment);
  (void)orders_.write({{}, exit_code});
  orders_.clean_up(k_moment);
}

Result<int> follow_rank_0(const RankEnvironment& environment, const fs::path& folder,
                          const FindRankProgram& find_program, std::chrono::milliseconds patience) {
  SHARDLAB_CHECK_OK(check_run_folder(folder));
  OrderReader orders(folder, environment.rank);
  std::optional<Error> failure;
  while (true) {
    const std::chrono::milliseconds wait = failure ? k_grace : patience;
    const std::optional<RankOrder> order = orders.next(wait);
    if (!order && failure) return fail(*failure);
    if (!order)
      return run_failed(on_rank(environment.rank),
                        fmt::format("rank 0 gave no order in {} within {} s", folder.string(),
                                    static_cast<double>(wait.count()) / 1000),
                        "does it run this command, in one folder that its machine shares with this one?");
    if (order->job.empty()) {
      orders.leave();
      return order->exit_code;
    }
    const Status status = do_own_part(order->job, environment, find_program);
    if (!status) failure = status.error();
    SHARDLAB_CHECK_OK(orders.report(report_of(status)));
  }
}

}  // namespace shardlab
