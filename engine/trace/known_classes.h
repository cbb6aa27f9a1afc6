// Whether anybody knows what bytes are of. Who counts them alone leaves all classes empty: imported traces,
// records of programs.
#pragma once

#include "engine/trace/step_trace.h"

namespace shardlab {

inline bool knows_classes(const BytesByClass& by_class) {
  return by_class != BytesByClass{};
}

}  // namespace shardlab
