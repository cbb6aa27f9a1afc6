#include "engine/execute/swap/swap_options.h"

#include <fmt/format.h>

#include "engine/execute/swap/aligned_memory.h"
#include "engine/execute/swap/swap_header.h"
#include "engine/execute/swap/thread_engine.h"
#include "engine/execute/swap/uring_engine.h"

namespace shardlab {
namespace {

constexpr Bytes k_largest_block = gibibytes(1);  // the kernel moves less than 2 GiB at once
constexpr int k_deepest_queue = 4096;
constexpr int k_most_swap_threads = 256;

Status check_count(const char* name, int value, int most) {
  if (value >= 1 && value <= most) return {};
  return bad_input(name, fmt::format("{} is not between 1 and {}", value, most));
}

}  // namespace

Status check_swap_options(const SwapOptions& options) {
  if (options.path.empty())
    return bad_input("path", "is empty", "name a folder of the drive (cluster.nvme.path)");
  if (!is_swap_run(options.run)) return bad_input("run", k_wrong_swap_run);
  if (options.rank < 0) return bad_input("rank", fmt::format("{} is negative", options.rank));
  const std::int64_t block = options.block.value;
  if (block <= 0 || block > k_largest_block.value || block % k_swap_page != 0)
    return bad_input("block", fmt::format("{} bytes are no whole pages of {}, or more than {}", block,
                                          k_swap_page, to_string(k_largest_block)));
  SHARDLAB_CHECK_OK(check_count("queue_depth", options.queue_depth, k_deepest_queue));
  return check_count("threads", options.threads, k_most_swap_threads);
}

Result<ChosenEngine> choose_swap_engine(const SwapOptions& options) {
  std::string why;
  if (options.mechanism != SwapMechanism::threads) {
    auto engine = open_uring_engine(options.queue_depth);
    if (engine) return ChosenEngine{*std::move(engine), "io_uring"};
    if (options.mechanism) return fail(std::move(engine).error());
    why = fmt::format(" ({})", message_text(engine.error()));
  }
  auto threads = std::make_unique<ThreadEngine>(options.threads, options.queue_depth);
  std::string description = threads->name() + why;
  return ChosenEngine{std::move(threads), std::move(description)};
}

}  // namespace shardlab
