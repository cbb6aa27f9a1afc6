#include "engine/execute/watch/peer_watch.h"

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr const char* k_failure = "peers/failure";
constexpr const char* k_finished = "finished";
constexpr std::chrono::milliseconds k_answer{5'000};  // for a value that is there

std::string beat_key(int rank) {
  return fmt::format("peers/beat/{}", rank);
}

}  // namespace

PeerWatch::PeerWatch(std::shared_ptr<SharedValues> store, int rank, int world, PeerWatchOptions options)
    : store_(std::move(store)), rank_(rank), world_(world), options_(options), heard_at_(Clock::now()) {}

std::optional<std::string> PeerWatch::poll() {
  if (world_ == 1) return std::nullopt;
  const Clock::time_point now = Clock::now();
  if (last_poll_ && now - *last_poll_ < options_.period) return std::nullopt;
  last_poll_ = now;
  if (const Status beaten = beat(); !beaten) return to_string(beaten.error());
  auto wrong = look();
  if (!wrong) return to_string(wrong.error());
  return *wrong;
}

Status PeerWatch::beat() {
  return store_->set(beat_key(rank_), std::to_string(++beats_));
}

Result<std::optional<std::string>> PeerWatch::look() {
  SHARDLAB_TRY(const bool failed, store_->has(k_failure));
  if (failed) {
    SHARDLAB_TRY(std::string what, store_->wait(k_failure, k_answer));
    return std::optional<std::string>(std::move(what));
  }
  const int next = (rank_ + 1) % world_;
  SHARDLAB_TRY(const bool known, store_->has(beat_key(next)));
  const Clock::time_point now = Clock::now();
  if (known) {
    SHARDLAB_TRY(std::string heard, store_->wait(beat_key(next), k_answer));
    if (heard == k_finished || heard != heard_) heard_at_ = now;
    heard_ = std::move(heard);
  }
  if (now - heard_at_ < options_.silence) return std::optional<std::string>();
  const std::string what = fmt::format("rank {} has not been heard of for {:.1f} s", next,
                                       static_cast<double>(options_.silence.count()) / 1000);
  report(what);
  return std::optional<std::string>(what);
}

void PeerWatch::report(const std::string& what) {
  const Result<bool> failed = store_->has(k_failure);
  if (failed && !*failed) (void)store_->set(k_failure, what);
}

void PeerWatch::finish() {
  (void)store_->set(beat_key(rank_), k_finished);
}

}  // namespace shardlab
