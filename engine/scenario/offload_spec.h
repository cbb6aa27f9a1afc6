// The `offload` section of a scenario.
#pragma once

#include "engine/scenario/parallel_words.h"

namespace shardlab {

struct OffloadSpec {
  OffloadTarget parameters = OffloadTarget::none;
  OffloadTarget optimizer = OffloadTarget::none;
  bool pin = true;
  double ratio = 1;
  int buffers = 0;
  friend bool operator==(const OffloadSpec&, const OffloadSpec&) = default;
};

}  // namespace shardlab
