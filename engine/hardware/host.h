// The host side of one rank on a GPU node: what copies to its memory and work on its processors attain.
#pragma once

#include <optional>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/hardware/description.h"
#include "engine/hardware/gpu.h"

namespace shardlab {

// Ranks of a node work in step: each has its part of what they share.
struct Host {
  int cores = 0;                           // of a rank; 0 on a CPU
  BytesPerSecond memory_bandwidth;         // attained, of a rank's part
  BytesPerSecond fused_bandwidth;          // of one core: an optimizer that goes once over its tensors
  BytesPerSecond kernels_bandwidth;        // of one core: one kernel after the other
  BytesPerSecond pageable_bandwidth;       // of copies of memory that is not page-locked
  double copy_seconds = 0;                 // of one copy, beside its bytes
  BytesPerSecond drive_read, drive_write;  // of the node's drives, where its file says nothing
  double drive_seconds = 0;                // of one transfer, beside its bytes
  bool link_is_shared = false;             // both directions together have what one has alone
  FigureSources provenance;
};

// From assets/hardware/host.yaml, with what the GPU's file says of its own processor. `cores`: those of a
// rank, where its node is known. Errors: not_possible without the file, bad_input for mistakes in it.
Result<Host> read_host(const Gpu& gpu, std::optional<int> cores);

}  // namespace shardlab
