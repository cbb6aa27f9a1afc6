#include "engine/execute/torch/operators/aten/device_operators.h"
#include "tests/unit/execute/torch/place.h"

namespace shardlab::test {

std::vector<Place> all_places() {
  return {{}, {"as on devices", c10::kCPU, find_device_implementation}};
}

}  // namespace shardlab::test
