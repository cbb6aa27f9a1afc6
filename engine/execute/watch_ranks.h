// Waits for the processes of a run and decides when to stop waiting. Private to this folder.
#pragma once

#include <functional>
#include <vector>

#include "engine/execute/child_process.h"

namespace shardlab {

struct RankOutcome {
  int rank = 0;
  ExitStatus status;
  bool stopped_by_us = false;  // it did not end by itself
  int order = 0;               // 0: the first to end
};

struct WatchOutcome {
  std::vector<RankOutcome> ranks;  // in the order of `children`
  bool interrupted = false;        // SIGINT or SIGTERM came
  bool good() const;
};

struct WatchedRank {
  int rank;
  ChildProcess process;
};

// Returns when all have ended. After the first failure the others get `grace`, then SIGTERM, then SIGKILL.
// `tick` is called about ten times a second.
WatchOutcome watch_ranks(std::vector<WatchedRank>& children, const SignalWatch& signals,
                         std::chrono::milliseconds grace, const std::function<void()>& tick);

}  // namespace shardlab
