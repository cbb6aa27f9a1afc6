// The lanes that share a row. Row functions take any type with these members:
//   lane(), count()    which one this is, of how many; lane l takes elements l, l + count() ...
//   sum(v), max(v)     over all lanes, the result on each; every lane must call it
#pragma once

#include "engine/kernels/host_device.h"

namespace shardlab::kernels {

// A host thread by itself.
struct OneLane {
  SHARDLAB_HD std::int64_t lane() const { return 0; }
  SHARDLAB_HD std::int64_t count() const { return 1; }
  SHARDLAB_HD float sum(float value) { return value; }
  SHARDLAB_HD float max(float value) { return value; }
};

}  // namespace shardlab::kernels
