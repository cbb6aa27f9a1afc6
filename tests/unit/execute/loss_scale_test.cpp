#include "engine/execute/step_scalars.h"

#include <limits>
#include <string>

#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Scenario under(const std::string& strategy, const ScalerSpec& spec) {
  Scenario scenario;
  scenario.parallel->strategy = strategy;
  *scenario.scaler = spec;
  return scenario;
}

ScalerSpec spec_of(double initial, int interval) {
  ScalerSpec spec;
  spec.initial_scale = initial;
  spec.interval = interval;
  return spec;
}

// The scale after each of these steps, "x" one that overflows; "end" where the run ends.
std::string scales_of(LossScale scale, std::string_view steps) {
  std::string text;
  for (const char step : steps) {
    if (!scale.update(step == 'x')) return text + "end";
    text += std::to_string(static_cast<int>(scale.value())) + " ";
  }
  return text;
}

TEST_CASE("the loss scale halves after an overflow and doubles after an interval without one") {
  const LossScale scale(under("fsdp2", spec_of(1024, 3)));
  CHECK(scale.inverse() == 1.0F / 1024);
  CHECK(scales_of(scale, "x..x...") == "512 512 512 256 256 256 512 ");  // the count begins again
}

TEST_CASE("the loss scale does not grow to infinity") {
  LossScale scale(under("fsdp2", spec_of(static_cast<double>(std::numeric_limits<float>::max()), 1)));
  CHECK(scale.update(false));
  CHECK(scale.value() == std::numeric_limits<float>::max());
}

// DeepSpeed 0.19.8's DynamicLossScaler gave these numbers, step by step.
TEST_CASE("DeepSpeed's scale falls with the second overflow and grows an interval after the last") {
  const ScalerSpec spec = spec_of(1024, 2);
  CHECK(scales_of(LossScale(under("zero2", spec)), "xx....x.x") ==
        "1024 512 512 512 1024 1024 1024 1024 512 ");
  ScalerSpec consecutive = spec;
  consecutive.consecutive_hysteresis = true;
  CHECK(scales_of(LossScale(under("zero2", consecutive)), "x.xx") == "1024 1024 1024 512 ");
}

TEST_CASE("DeepSpeed's ZeRO ends a run at the smallest scale, and what has no ZeRO goes on") {
  ScalerSpec spec = spec_of(4, 1000);
  CHECK(scales_of(LossScale(under("zero0", spec)), "xxxx") == "2 1 1 1 ");
  spec.hysteresis = 1;
  CHECK(scales_of(LossScale(under("zero3", spec)), "xxx") == "2 1 end");
  spec.dynamic = false;
  CHECK(scales_of(LossScale(under("zero3", spec)), "xxx.") == "4 4 4 4 ");
}

}  // namespace
}  // namespace shardlab
