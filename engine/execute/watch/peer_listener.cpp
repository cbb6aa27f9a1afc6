#include "engine/execute/watch/peer_listener.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace shardlab {

namespace {
using Clock = std::chrono::steady_clock;
}  // namespace

struct PeerListener::State {
  State(std::shared_ptr<SharedValues> values, int rank, int world, const PeerWatchOptions& given)
      : watch(std::move(values), rank, world, given), options(given) {}

  PeerWatch watch;  // the thread's
  const PeerWatchOptions options;

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::string> failure;
  Clock::time_point answered = Clock::now();
  std::optional<std::string> to_report;
  bool to_finish = false, leave = false;
  bool ended = false;  // the thread has said the last thing it had to say, or there was nothing
};

PeerListener::PeerListener(std::shared_ptr<SharedValues> values, int rank, int world,
                           PeerWatchOptions options)
    : state_(std::make_shared<State>(std::move(values), rank, world, options)) {
  std::thread([state = state_] { listen(state); }).detach();
}

PeerListener::~PeerListener() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->leave = true;
  }
  state_->changed.notify_all();
}

void PeerListener::listen(const std::shared_ptr<State>& state) {
  State& s = *state;
  std::unique_lock lock(s.mutex);
  while (!s.leave) {
    const std::optional<std::string> report = std::exchange(s.to_report, std::nullopt);
    const bool finish = s.to_finish;
    lock.unlock();
    std::optional<std::string> wrong;
    if (report) s.watch.report(*report);
    if (finish) s.watch.finish();
    if (!report && !finish) wrong = s.watch.poll();
    lock.lock();
    s.answered = Clock::now();
    if (wrong && !s.failure) s.failure = std::move(wrong);
    if (report || finish) break;
    s.changed.wait_for(lock, s.options.period, [&] { return s.leave || s.to_report || s.to_finish; });
  }
  s.ended = true;
  s.changed.notify_all();
}

std::optional<std::string> PeerListener::failure() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->failure || state_->ended) return state_->failure;
  const auto silence = Clock::now() - state_->answered;
  if (silence < state_->options.silence + state_->options.period) return std::nullopt;
  state_->failure = fmt::format("the meeting point, which rank 0 keeps, has not answered for {:.1f} s",
                                std::chrono::duration<double>(silence).count());
  return state_->failure;
}

void PeerListener::report(const std::string& what) {
  std::unique_lock lock(state_->mutex);
  state_->to_report = what;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, state_->options.patience, [&] { return state_->ended; });
}

void PeerListener::finish() {
  std::unique_lock lock(state_->mutex);
  state_->to_finish = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, state_->options.patience, [&] { return state_->ended; });
}

}  // namespace shardlab
