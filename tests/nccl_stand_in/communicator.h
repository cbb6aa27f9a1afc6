// A rank's side of a communicator, and the rules about who may be inside it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "tests/nccl_stand_in/segment.h"

namespace stand_in {

// Never freed: whoever comes after its end is found out.
class Communicator {
 public:
  Communicator(Shared* shared, int rank, int ranks, bool blocking)
      : shared_(shared), rank_(rank), ranks_(ranks), blocking_(blocking) {}

  Shared& shared() { return *shared_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool is_blocking() const { return blocking_; }
  bool is_given_up() const { return given_up_; }

  // A call begins and ends. begin() is false when a rule forbids it, and says which. A call on a held
  // communicator does not come back from begin() before it is given up, which then is false, too.
  bool begin(const char* what);
  void end();
  // Another thread asks without being inside: false after its end.
  bool is_there(const char* what);
  // Ends it, by abort or not. False when a rule forbids it.
  bool finish(const char* what, bool given_up);

  void hold();
  void set_error(int outcome) { error_ = outcome; }
  int error() const { return error_; }

  void add_work() { ++enqueued_; }
  void note_done() { ++done_; }
  bool has_work() const { return done_ < enqueued_; }

 private:
  Shared* shared_;
  const int rank_, ranks_;
  const bool blocking_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string inside_;  // the call, empty when nobody is
  std::thread::id who_;
  std::string ended_by_;
  bool held_ = false, stuck_ = false;
  std::atomic<bool> given_up_{false};
  std::atomic<int> error_{0};
  std::atomic<std::uint64_t> enqueued_{0}, done_{0};
};

}  // namespace stand_in
