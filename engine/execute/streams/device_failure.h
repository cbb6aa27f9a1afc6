// What ends the work of a device: the device itself, a peer that it waits for, a watch that gave it up.
//
// Its own type, so that it is told apart from what the host's calls throw: the first is about the work that
// the device has begun and not ended, the others about the instruction that is being issued.
#pragma once

#include <stdexcept>

namespace shardlab {

class DeviceFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace shardlab
