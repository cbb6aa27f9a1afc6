// One communicator of NCCL, and who may touch it when.
//
// NCCL allows one thread in a communicator at a time, and has two exceptions for communicators that block
// (ncclConfig_t::blocking = 1): another thread may ask for its asynchronous error, and may abort it. So calls
// are the issuing thread's; a watch asks broken() and calls abort(), from any thread. An abort waits a little
// for a call to come back: what is inside the communicator then loses the ground under its feet (NCCL frees
// it), and is left to it only when it does not come back, which is what abort is for. After an abort nothing
// touches the communicator, whoever calls.
//
// A communicator is destroyed by close() alone, after a run that ended well: ncclCommDestroy waits for
// collectives whose peer may be gone. Otherwise it is left to the end of the process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/execute/nccl/nccl_library.h"

namespace shardlab {

struct NcclMember {
  std::string group;  // for messages
  int rank = 0;       // within the group
  int size = 1;
  nccl::UniqueId id;              // the same for all members
  std::function<void()> enter{};  // called first in the thread that connects: chooses its device; may throw
};

struct NcclPatience {
  std::chrono::milliseconds connect{600'000};  // for all members to come
  std::chrono::milliseconds call{2'000};       // for a call to come back before its communicator is aborted
};

class NcclHandle {
 public:
  // Why the run cannot go on, if something is known.
  using Failure = std::function<std::optional<std::string>()>;

  // Blocks until all members are here. NCCL connects in a thread of its own, which is left behind when the
  // time is over or `failure` knows a reason: then run_failed, as when NCCL refuses. `nccl` must outlive the
  // process's last thread in it: load_nccl()'s do.
  static Result<std::shared_ptr<NcclHandle>> connect(const NcclLibrary& nccl, const NcclMember& member,
                                                     const NcclPatience& patience, const Failure& failure);

  NcclHandle(const NcclLibrary& nccl, std::string group, nccl::CommHandle communicator,
             std::chrono::milliseconds patience);
  NcclHandle(const NcclHandle&) = delete;
  NcclHandle& operator=(const NcclHandle&) = delete;

  // issue(communicator) returns NCCL's outcome. Throws DeviceFailure when the communicator was given up,
  // before the call or during it, and std::runtime_error with NCCL's words when NCCL refuses.
  template <typename Issue>
  void call(const char* what, Issue&& issue) {
    const Call inside(*this);
    const nccl::Outcome outcome = issue(inside.communicator());
    if (outcome != nccl::Outcome::success) refuse(outcome, what);
  }

  // An error that NCCL noticed meanwhile. Any thread, at any time; does not block.
  std::optional<std::string> broken();
  // The first reason counts. Any thread; may take as long as NCCL does.
  void abort(const std::string& reason);
  // Destroys the communicator, unless it was given up. The issuing thread, when all its work is done.
  void close();

  const NcclLibrary& nccl() const { return nccl_; }

 private:
  // The issuing thread is inside the communicator.
  class Call {
   public:
    explicit Call(NcclHandle& handle) : handle_(handle), communicator_(handle.begin_call()) {}
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { handle_.end_call(); }
    nccl::CommHandle communicator() const { return communicator_; }

   private:
    NcclHandle& handle_;
    const nccl::CommHandle communicator_;
  };

  nccl::CommHandle begin_call();
  void end_call();
  [[noreturn]] void refuse(nccl::Outcome outcome, const char* what);
  std::string given_up(const std::string& reason) const;

  const NcclLibrary& nccl_;
  const std::string group_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;  // held while the watch is in the communicator, never while the issuing thread is
  std::condition_variable came_back_;
  nccl::CommHandle communicator_;  // null once it was aborted or closed
  bool in_call_ = false;
  std::optional<std::string> reason_;  // why it was given up
};

// NCCL's words for what it refused: "NCCL, group shard: all-gather failed: unhandled system error: ...".
std::string nccl_refusal(const NcclLibrary& nccl, const std::string& group, const char* what,
                         nccl::Outcome outcome);

}  // namespace shardlab
