#include "engine/execute/nccl/nccl_handle.h"

#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "engine/execute/streams/device_failure.h"

namespace shardlab {
namespace {

// Shared by the thread that connects and the one that waits for it; outlives either.
struct Connecting {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<std::string> refused;
  nccl::CommHandle communicator = nullptr;
  bool left = false;  // nobody waits any more
};

void connect_in_own_thread(const NcclLibrary& nccl, const NcclMember& member,
                           const std::shared_ptr<Connecting>& shared) {
  std::optional<std::string> refused;
  nccl::CommHandle communicator = nullptr;
  try {
    if (member.enter) member.enter();
    nccl::Config config;
    config.blocking = 1;
    const nccl::Outcome outcome = nccl.init_rank(&communicator, member.size, member.id, member.rank, &config);
    if (outcome != nccl::Outcome::success) refused = nccl_refusal(nccl, member.group, "connecting", outcome);
  } catch (const std::exception& error) {
    refused = error.what();
  }
  std::unique_lock lock(shared->mutex);
  if (shared->left) {
    lock.unlock();
    if (!refused) (void)nccl.abort(communicator);  // it came too late, and nobody else knows it
    return;
  }
  shared->refused = std::move(refused);
  shared->communicator = communicator;
  shared->done.notify_all();
}

// What ends the waiting in place of NCCL's answer; empty when that came.
std::optional<std::string> wait_for(Connecting& shared, std::chrono::milliseconds timeout,
                                    const std::string& group, const NcclHandle::Failure& failure) {
  constexpr std::chrono::milliseconds k_look{50};
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(shared.mutex);
  while (!shared.refused && shared.communicator == nullptr) {
    shared.done.wait_for(lock, k_look);
    if (shared.refused || shared.communicator != nullptr) break;
    std::optional<std::string> reason = failure ? failure() : std::nullopt;
    if (!reason && std::chrono::steady_clock::now() > end) {
      reason = fmt::format("NCCL, group {}: not all members came within {} s", group,
                           static_cast<double>(timeout.count()) / 1000);
    }
    if (!reason) continue;
    shared.left = true;
    return reason;
  }
  return std::nullopt;
}

}  // namespace

std::string nccl_refusal(const NcclLibrary& nccl, const std::string& group, const char* what,
                         nccl::Outcome outcome) {
  if (outcome == nccl::Outcome::in_progress)
    return fmt::format(
        "NCCL, group {}: {} answered before it was done; NCCL_COMM_BLOCKING=0 is set, unset it", group, what);
  // The argument is not used (nccl.h), so that no communicator need be alive for it.
  const char* last = nccl.last_error(nullptr);
  const std::string words = last != nullptr ? last : "";
  return fmt::format("NCCL, group {}: {} failed: {}{}{}", group, what, nccl.error_string(outcome),
                     words.empty() ? "" : ": ", words.substr(0, words.find('\n')));
}

Result<std::shared_ptr<NcclHandle>> NcclHandle::connect(const NcclLibrary& nccl, const NcclMember& member,
                                                        const NcclPatience& patience,
                                                        const Failure& failure) {
  const auto shared = std::make_shared<Connecting>();
  std::thread([&nccl, member, shared] { connect_in_own_thread(nccl, member, shared); }).detach();
  if (const auto reason = wait_for(*shared, patience.connect, member.group, failure))
    return run_failed(fmt::format("group {}", member.group), *reason);
  if (shared->refused) return run_failed(fmt::format("group {}", member.group), *shared->refused);
  return std::make_shared<NcclHandle>(nccl, member.group, shared->communicator, patience.call);
}

NcclHandle::NcclHandle(const NcclLibrary& nccl, std::string group, nccl::CommHandle communicator,
                       std::chrono::milliseconds patience)
    : nccl_(nccl), group_(std::move(group)), patience_(patience), communicator_(communicator) {}

std::string NcclHandle::given_up(const std::string& reason) const {
  return fmt::format("NCCL, group {}: given up: {}", group_, reason);
}

nccl::CommHandle NcclHandle::begin_call() {
  const std::lock_guard lock(mutex_);
  if (reason_) throw DeviceFailure(given_up(*reason_));
  if (communicator_ == nullptr) throw std::logic_error(fmt::format("NCCL, group {}: is closed", group_));
  in_call_ = true;
  return communicator_;
}

void NcclHandle::end_call() {
  {
    const std::lock_guard lock(mutex_);
    in_call_ = false;
  }
  came_back_.notify_all();
}

void NcclHandle::refuse(nccl::Outcome outcome, const char* what) {
  {
    const std::lock_guard lock(mutex_);
    if (reason_) throw DeviceFailure(given_up(*reason_));
  }
  throw std::runtime_error(nccl_refusal(nccl_, group_, what, outcome));
}

std::optional<std::string> NcclHandle::broken() {
  const std::lock_guard lock(mutex_);
  if (communicator_ == nullptr) return std::nullopt;
  nccl::Outcome state = nccl::Outcome::success;
  (void)nccl_.get_async_error(communicator_, &state);
  if (state == nccl::Outcome::success || state == nccl::Outcome::in_progress) return std::nullopt;
  return nccl_refusal(nccl_, group_, "a collective", state);
}

void NcclHandle::abort(const std::string& reason) {
  std::unique_lock lock(mutex_);
  if (reason_ || communicator_ == nullptr) return;
  reason_ = reason;
  came_back_.wait_for(lock, patience_, [&] { return !in_call_; });
  const nccl::CommHandle communicator = std::exchange(communicator_, nullptr);
  lock.unlock();
  (void)nccl_.abort(communicator);
}

void NcclHandle::close() {
  std::unique_lock lock(mutex_);
  if (reason_ || communicator_ == nullptr) return;
  const nccl::CommHandle communicator = std::exchange(communicator_, nullptr);
  lock.unlock();
  (void)nccl_.destroy(communicator);
}

}  // namespace shardlab
