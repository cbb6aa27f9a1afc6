// Which GPU is a rank's, and whether two ranks have been given the same one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"
#include "engine/execute/watch/shared_values.h"

namespace shardlab {

struct VisibleGpus {
  int count = 0;
  std::string variable;        // CUDA_VISIBLE_DEVICES; empty where it is not set
  bool may_be_shared = false;  // NCCL_MULTI_RANK_GPU_ENABLE=1: NCCL 2.30 and newer let ranks share one
};

// The ordinal among the visible ones: its local rank. A launcher that shows each rank its own GPU and no
// other (srun --gpus-per-task=1) leaves ordinal 0. bad_input when there are fewer than the local rank asks
// for, and more than one.
Result<int> choose_gpu(const RankEnvironment& environment, const VisibleGpus& visible);

// All ranks call it, each with what its GPU is ("host uuid", the same string for the same GPU), before they
// connect. run_failed names two ranks that share one, which NCCL refuses in its own words or hangs on; also
// when `failure` knows why the run cannot go on, or a rank does not answer in time.
Status check_each_has_its_own(SharedValues& values, const RankEnvironment& environment,
                              const std::string& gpu, std::chrono::milliseconds timeout,
                              const std::function<std::optional<std::string>()>& failure);

}  // namespace shardlab
