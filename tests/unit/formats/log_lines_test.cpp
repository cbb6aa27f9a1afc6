#include "engine/formats/logs/deepspeed_lines.h"
#include "engine/formats/logs/line_numbers.h"
#include "engine/formats/logs/progress_bar.h"
#include "engine/formats/logs/steady_times.h"
#include "engine/formats/logs/torchtitan_lines.h"
#include "engine/formats/logs/trainer_lines.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("numbers in lines of logs") {
  CHECK(number_after("tps: 1,234,567.5  mfu", "tps:") == 1234567.5);
  CHECK(number_after("[8, 2]", "[") == 8);
  CHECK(number_after("tps: 12,34", "tps:") == 12);
  CHECK_FALSE(number_after("tps: none", "tps:"));
  CHECK_FALSE(count_after("step: -3", "step:"));
  CHECK_FALSE(count_after("step: 1e300", "step:"));
  CHECK_FALSE(seconds(-1));
  CHECK(clock_in("[1970-01-02 00:00:01,500] [INFO]") == milliseconds(86'401'500));
  CHECK_FALSE(clock_in("1970-13-02 00:00:01"));
}

TEST_CASE("GB of DeepSpeed and GiB of torchtitan are both of 2^30 bytes") {
  const auto memory =
      deepspeed_figures("MA 0.5 GB         Max_MA 1.5 GB         CA 2.25 GB         Max_CA 2 GB ");
  REQUIRE(memory);
  CHECK(memory->peak_allocated == mebibytes(1536));
  CHECK(memory->peak_reserved == mebibytes(2304));  // more than the rounded peak
  CHECK_FALSE(memory->is_whole_gibibytes);
  const auto step = torchtitan_figures("step: 10  loss: 2.0  memory:  1.50GiB(2.00%)  tps: 5");
  REQUIRE(step);
  CHECK(step->peak_reserved == mebibytes(1536));
}

TEST_CASE("timers of parts, and lines of evaluations, are no steps") {
  CHECK_FALSE(deepspeed_figures("time (ms) | optimizer_gradients: 0.26 | optimizer_step: 0.76"));
  CHECK_FALSE(deepspeed_figures("time (ms) | fwd_microstep: 0.5 | bwd_microstep: 1.0 | step_microstep: 0.1"));
  CHECK_FALSE(torchtitan_figures("validate step: 10  loss: 2.0  memory:  1.50GiB(2.00%)  tps: 5"));
  CHECK_FALSE(trainer_figures("{'eval_loss': '2.1', 'eval_runtime': '3.5', 'epoch': '1'}"));
  CHECK_FALSE(progress_figures("Map: 100%|####| 9000/9000 [09:00<00:00, 10.0s/it]"));
  CHECK(deepspeed_figures("time (ms) | forward: 1.0 | backward: 2.0 | step: 0.5")->time ==
        microseconds(3500));
}

TEST_CASE("a bar that shares its line is read") {
  const auto bar = progress_figures(" 51%|#####1    | 507/1000 [1:15:32<16:42,  2.03s/it]{'loss': 2.1}");
  REQUIRE(bar);
  CHECK(bar->step == 507);
  CHECK(bar->of == 1000);
  CHECK(bar->clock == milliseconds(4'532'000));
}

TEST_CASE("times that begin within the first steps of a start are left out, unless no other is there") {
  const TimedSteps first{0, 1, {90}, 0}, second{1, 2, {50}, 0}, fourth{3, 4, {10}, 0}, later{4, 8, {20}, 0};
  const SteadyTimes steady = steady_times({first, second, fourth, later});
  CHECK(steady.times == std::vector{fourth, later});
  CHECK(steady.left_out == 2);
  CHECK(step_time_of(steady) == StepTimeSummary{{20}, {10}, {20}, 5});
  CHECK(steady_times({first, second}).times == std::vector{second});
  CHECK(steady_times({first}).hold_first);
  CHECK(step_time_of(steady_times({})) == StepTimeSummary{});
}

}  // namespace
}  // namespace shardlab
