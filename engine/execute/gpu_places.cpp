#include "engine/execute/gpu_places.h"

#include <map>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr const char* k_verdict = "gpu/verdict";
constexpr const char* k_good = "each has its own";

std::string gpu_key(int rank) {
  return fmt::format("gpu/{}", rank);
}

}  // namespace

Result<int> choose_gpu(const RankEnvironment& environment, const VisibleGpus& visible) {
  if (environment.local_rank < visible.count) return environment.local_rank;
  if (visible.count == 1) return 0;
  if (visible.may_be_shared && visible.count > 0) return environment.local_rank % visible.count;
  return bad_input(
      on_rank(environment.rank),
      fmt::format(
          "LOCAL_RANK is {}, but only {} GPUs are visible{}", environment.local_rank, visible.count,
          visible.variable.empty() ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible.variable)),
      "start as many ranks a node as it has GPUs, or set cluster.gpus_per_node to what is here");
}

Status check_each_has_its_own(SharedValues& values, const RankEnvironment& environment,
                              const std::string& gpu, std::chrono::milliseconds timeout,
                              const std::function<std::optional<std::string>()>& failure) {
  SHARDLAB_CHECK_OK(values.set(gpu_key(environment.rank), gpu));
  if (environment.rank == 0) {
    std::string verdict = k_good;
    std::map<std::string, int> owners;
    for (int rank = 0; rank < environment.world; ++rank) {
      SHARDLAB_TRY(const std::string theirs, wait_unless_failed(values, gpu_key(rank), timeout, failure));
      const auto [owner, is_new] = owners.try_emplace(theirs, rank);
      if (is_new) continue;
      verdict = fmt::format("rank {} and rank {} have the same GPU, {}", owner->second, rank, theirs);
      break;
    }
    SHARDLAB_CHECK_OK(values.set(k_verdict, verdict));
  }
  SHARDLAB_TRY(const std::string verdict, wait_unless_failed(values, k_verdict, timeout, failure));
  if (verdict == k_good) return {};
  return run_failed("GPUs", verdict,
                    "start as many ranks a node as it has GPUs, each with its own; NCCL 2.30 and newer let "
                    "ranks share one with NCCL_MULTI_RANK_GPU_ENABLE=1");
}

}  // namespace shardlab
