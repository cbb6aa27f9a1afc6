// What settings would take off the time for a token, and what that costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/trace/fit.h"

namespace shardlab {

struct TimeSaving {
  std::vector<std::string> settings;  // as for --set
  std::string effect;                 // in words
  Nanoseconds step_time, exposed;     // with them
  double tokens_per_second = 0;
  Bytes peak;  // of the device; of the tensors on processors
  std::optional<Fit> fits;
  bool comparison = false;  // what other operators would buy: no setting of what trains

  friend bool operator==(const TimeSaving&, const TimeSaving&) = default;
};

}  // namespace shardlab
