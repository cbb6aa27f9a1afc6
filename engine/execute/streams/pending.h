// Work that was issued and runs elsewhere: in a communicator's thread.
#pragma once

#include "engine/base/units.h"

namespace shardlab {

class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual ~Pending() = default;

  // Blocks until the work is done and its results are in place. Throws what made it fail, each time.
  virtual void wait() = 0;

  // When it began (peers may not have been there yet) and when it was done, on this host's monotonic clock;
  // valid after wait(). Taken where the work runs, not where it is waited for.
  virtual Nanoseconds began_at() const = 0;
  virtual Nanoseconds completed_at() const = 0;
};

}  // namespace shardlab
