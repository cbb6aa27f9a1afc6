// What one key of a scenario would take off the peak, and what that costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/trace/fit.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct MemorySaving {
  std::string setting;  // as for --set
  std::string effect;   // in words
  Bytes peak_allocated;
  std::optional<Bytes> peak_device;  // absent on processors
  Bytes gain;                        // by which the device's peak falls; that of the tensors on processors
  Nanoseconds step_time;
  double tokens_per_second = 0;
  std::optional<Fit> fits;
  std::vector<std::string> shrinks;  // rows of the peak (AliveRow::what) that are meant to shrink and do
  bool comparison = false;           // as TimeSaving::comparison

  friend bool operator==(const MemorySaving&, const MemorySaving&) = default;
};

}  // namespace shardlab
