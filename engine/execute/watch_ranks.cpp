#include "engine/execute/watch_ranks.h"

#include <algorithm>
#include <optional>

namespace shardlab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_watch_poll{100};
constexpr std::chrono::seconds k_from_term_to_kill{3};

class Watcher {
 public:
  Watcher(std::vector<WatchedRank>& children, std::chrono::milliseconds grace)
      : children_(children), grace_(grace) {
    for (const WatchedRank& child : children_) outcome_.ranks.push_back({child.rank, {}, false, -1});
  }

  WatchOutcome watch(const SignalWatch& signals, const std::function<void()>& tick) {
    while (!poll_all()) {
      if (tick) tick();
      enforce_deadlines();
      const int signal = signals.wait(k_watch_poll);
      if (signal == SIGINT || signal == SIGTERM) interrupt();
    }
    if (tick) tick();
    return outcome_;
  }

 private:
  // True when all have ended.
  bool poll_all() {
    bool all = true;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      RankOutcome& outcome = outcome_.ranks[i];
      if (outcome.order >= 0) continue;
      const auto& status = children_[i].process.poll();
      if (!status) {
        all = false;
        continue;
      }
      outcome.status = *status;
      outcome.order = ended_++;
      outcome.stopped_by_us = terminated_ && status->signal != 0;
      if (!status->good() && !term_at_) term_at_ = Clock::now() + grace_;
    }
    return all;
  }

  void enforce_deadlines() {
    const auto now = Clock::now();
    if (!terminated_ && term_at_ && now >= *term_at_) {
      send_all(SIGTERM);
      terminated_ = true;
      kill_at_ = now + k_from_term_to_kill;
    }
    if (terminated_ && !killed_ && now >= kill_at_) {
      send_all(SIGKILL);
      killed_ = true;
    }
  }

  void interrupt() {
    outcome_.interrupted = true;
    if (!terminated_) term_at_ = Clock::now();
  }

  void send_all(int signal) {
    for (const WatchedRank& child : children_) child.process.send(signal);
  }

  std::vector<WatchedRank>& children_;
  const std::chrono::milliseconds grace_;
  WatchOutcome outcome_;
  int ended_ = 0;
  std::optional<Clock::time_point> term_at_;
  Clock::time_point kill_at_{};
  bool terminated_ = false, killed_ = false;
};

}  // namespace

bool WatchOutcome::good() const {
  return !interrupted &&
         std::all_of(ranks.begin(), ranks.end(), [](const RankOutcome& rank) { return rank.status.good(); });
}

WatchOutcome watch_ranks(std::vector<WatchedRank>& children, const SignalWatch& signals,
                         std::chrono::milliseconds grace, const std::function<void()>& tick) {
  return Watcher(children, grace).watch(signals, tick);
}

}  // namespace shardlab
