#include "engine/execute/swap_place.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "engine/execute/swap/swap_removal.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/offload_spec.h"

namespace shardlab {

namespace fs = std::filesystem;

SwapOptions swap_options(const Scenario& scenario, const std::string& run, int rank) {
  const DriveSpec& aio = scenario.offload->aio;
  const fs::path given = scenario.cluster->nvme.path;
  SwapOptions options;
  options.path = given.is_absolute() ? given.string() : (fs::path(scenario.directory) / given).string();
  options.run = run.empty() ? fmt::format("process-{}", ::getpid()) : run;
  options.rank = rank;
  options.block = aio.block_size;
  options.queue_depth = aio.queue_depth;
  options.threads = aio.threads;
  return options;
}

Result<std::shared_ptr<SwapDrive>> open_swap_drive(const Scenario& scenario, const std::string& run,
                                                   int rank) {
  const SwapOptions options = swap_options(scenario, run, rank);
  std::error_code error;
  if (!fs::is_directory(options.path, error))
    return bad_input("cluster.nvme.path", fmt::format("{} is no folder of this machine", options.path),
                     "make it on the drive that the ranks swap to");
  if (::access(options.path.c_str(), W_OK | X_OK) != 0)
    return bad_input("cluster.nvme.path",
                     fmt::format("{} may not be written to: {}", options.path, std::strerror(errno)),
                     "give this user the right to make folders there, or name another");
  SHARDLAB_TRY(std::unique_ptr<SwapDrive> drive, SwapDrive::open(options));
  return std::shared_ptr<SwapDrive>(std::move(drive));
}

std::string new_swap_run() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}-{}", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                     ::getpid());
}

void clear_swap(const Scenario& scenario, const std::string& run) {
  if (scenario.offload->optimizer != OffloadTarget::nvme || run.empty()) return;
  (void)remove_swap_of_run(swap_options(scenario, run, 0).path, run);
}

}  // namespace shardlab
