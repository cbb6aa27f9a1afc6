// Notices that a peer is gone when no collective would tell: every rank beats once a second, listens to the
// next one, and reads whether anybody reported a failure.
//
// Each rank watches one other, so the store sees a few requests a rank and second however many ranks there
// are.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/execute/watch/shared_values.h"

namespace shardlab {

struct PeerWatchOptions {
  std::chrono::milliseconds period{1'000};
  std::chrono::milliseconds silence{15'000};  // after which a peer is taken for lost
  std::chrono::milliseconds patience{3'000};  // for the store to take a rank's last word
};

// Used by one thread. Any call may block for as long as the store does not answer: see peer_listener.h.
class PeerWatch {
 public:
  PeerWatch(std::shared_ptr<SharedValues> store, int rank, int world, PeerWatchOptions options = {});

  // Beats and looks when it is time to. What is wrong: "rank 3 has not been heard of for 15 s", "rank 2: ...
  // ".
  std::optional<std::string> poll();

  // Tells all others why this rank ends. The first report of a run is the one that counts.
  void report(const std::string& what);
  // This rank ends well: its silence means nothing from now on.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  // Errors of both: run_failed when the store is gone.
  Status beat();
  Result<std::optional<std::string>> look();

  std::shared_ptr<SharedValues> store_;
  const int rank_, world_;
  const PeerWatchOptions options_;
  std::optional<Clock::time_point> last_poll_;
  std::int64_t beats_ = 0;
  std::string heard_;
  Clock::time_point heard_at_;
};

}  // namespace shardlab
