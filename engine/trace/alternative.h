// What a run would be with one key of its scenario changed.
#pragma once

#include <optional>
#include <string>

#include "engine/base/units.h"
#include "engine/trace/fit.h"

namespace shardlab {

struct Alternative {
  std::string setting;  // as for --set: "train.sync=every"
  std::string effect;   // what it does, in words
  Bytes peak_allocated;
  Nanoseconds step_time;
  double tokens_per_second = 0;  // a step of other settings may have more tokens, or fewer
  std::optional<Fit> fits;       // absent where no limit is known

  friend bool operator==(const Alternative&, const Alternative&) = default;
};

}  // namespace shardlab
