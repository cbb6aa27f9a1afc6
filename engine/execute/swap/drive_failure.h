// What the operating system says when a drive fails, as an Error that says what to do.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

// The file or folder that an operation was about, and the rank whose it is.
Place swap_place(const std::string& path, int rank);

// Bytes that this user may still write where the open file or folder lies; negative where that is not known.
Bytes free_bytes(int descriptor);

struct DriveFailure {
  int number = 0;             // errno
  const char* what = "used";  // "read", "written", "made", "opened", "locked": the message says it cannot be
  Bytes needed{0};            // with `free`, for a drive that is full
  Bytes free{-1};             // negative: not known
  ErrorKind kind = ErrorKind::run_failed;
};

// The code is `unreadable` where the machine is at fault and no setting.
Error drive_error(Place place, const DriveFailure& failure);

// Hints that several errors share.
extern const char* const k_start_again;  // for files that something else removed or changed

}  // namespace shardlab
