// Whether a predicted run fits its devices and its nodes.
#pragma once

#include <optional>
#include <string>

#include "engine/trace/fit.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct FitLimits {
  Bytes device;
  std::optional<Bytes> host;  // of a node, when known
};

struct FitVerdict {
  Fit fit = Fit::yes;
  double probability = 1;             // that the steps run
  std::optional<std::string> reason;  // in words, of what is unsure or does not fit
};

// By how much libraries on the device may exceed what is reckoned with: the ranges of the rows.
Bytes margin_of(const std::vector<MemoryOverhead>& overheads);

// The steps by what the allocator reserves, or would on what there is, with retries; the phases that the job
// has by what lives in them beside the libraries, and a node's host memory: unsure where the libraries'
// ranges decide. The worst of all is the verdict, with its reason. `predicted` has device_memory.
FitVerdict judge_prediction(const RunTrace& predicted, const FitLimits& limits);

}  // namespace shardlab
