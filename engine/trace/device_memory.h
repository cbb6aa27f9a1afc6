// What a device's caching allocator and driver say about memory over a whole run, of one rank.
#pragma once

#include <cstdint>

#include "engine/base/units.h"

namespace shardlab {

// The first five as torch.cuda.memory_stats names them (torch 2.11): peaks over the run.
struct DeviceMemory {
  Bytes requested;                 // that the program asked for
  Bytes allocated;                 // in blocks it holds
  Bytes active;                    // and in blocks that wait for another stream
  Bytes reserved;                  // from the driver
  Bytes inactive_split;            // of split blocks that nobody holds
  std::int64_t retries = 0;        // allocations that first gave everything unused back to the driver
  std::int64_t out_of_memory = 0;  // allocations that failed
  Bytes library_workspace;  // of what is requested: of libraries, from before the first tensor to the end
  // Beside the allocator: what the process holds (or, where the driver does not tell, all processes) at fixed
  // points; absent parts are zero.
  Bytes context;        // after the device was opened and cuBLAS loaded
  Bytes communication;  // communicators and what their first use took
  Bytes device_peak;    // most in use on the device at the ends of steps, whoever used it

  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

}  // namespace shardlab
