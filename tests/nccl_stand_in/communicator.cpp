#include "tests/nccl_stand_in/communicator.h"

#include "tests/nccl_stand_in/violations.h"

namespace stand_in {

bool Communicator::begin(const char* what) {
  std::unique_lock lock(mutex_);
  if (!ended_by_.empty()) {
    violate(std::string(what) + " touches a communicator after " + ended_by_);
    return false;
  }
  if (!inside_.empty()) {
    violate(std::string("two threads in one communicator: ") + what + " during " + inside_);
    return false;
  }
  inside_ = what;
  who_ = std::this_thread::get_id();
  if (!held_) return true;
  stuck_ = true;
  changed_.wait(lock, [&] { return given_up_.load(); });
  stuck_ = false;
  inside_.clear();
  return false;
}

void Communicator::end() {
  const std::lock_guard lock(mutex_);
  inside_.clear();
}

bool Communicator::is_there(const char* what) {
  const std::lock_guard lock(mutex_);
  if (ended_by_.empty()) return true;
  violate(std::string(what) + " touches a communicator after " + ended_by_);
  return false;
}

bool Communicator::finish(const char* what, bool given_up) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_by_.empty()) {
      violate(std::string(what) + " touches a communicator after " + ended_by_);
      return false;
    }
    if (!inside_.empty() && !stuck_) violate(std::string(what) + " frees a communicator during " + inside_);
    ended_by_ = what;
    if (given_up) given_up_ = true;
  }
  changed_.notify_all();
  return true;
}

void Communicator::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

}  // namespace stand_in
