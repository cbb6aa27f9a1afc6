#include "engine/execute/monotonic_clock.h"

#include <chrono>

namespace shardlab {

Nanoseconds monotonic_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

}  // namespace shardlab
