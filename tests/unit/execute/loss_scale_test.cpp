#include "engine/execute/step_scalars.h"

#include <limits>

#include "engine/scenario/precision_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("the loss scale halves after an overflow and doubles after an interval without one") {
  ScalerSpec spec;
  spec.initial_scale = 1024;
  spec.interval = 3;
  LossScale scale(spec);
  CHECK(scale.inverse() == 1.0F / 1024);
  scale.update(true);
  CHECK(scale.value() == 512);
  scale.update(false);
  scale.update(false);
  scale.update(true);  // the count begins again
  CHECK(scale.value() == 256);
  scale.update(false);
  scale.update(false);
  CHECK(scale.value() == 256);
  scale.update(false);
  CHECK(scale.value() == 512);
}

TEST_CASE("the loss scale does not grow to infinity") {
  ScalerSpec spec;
  spec.initial_scale = static_cast<double>(std::numeric_limits<float>::max());
  spec.interval = 1;
  LossScale scale(spec);
  scale.update(false);
  CHECK(scale.value() == std::numeric_limits<float>::max());
}

}  // namespace
}  // namespace shardlab
