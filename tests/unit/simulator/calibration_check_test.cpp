#include "simulator/calibrate/calibration_check.h"

#include <algorithm>

#include "simulator/calibrate/probe_cases.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Calibration two_probes() {
  Calibration calibration;
  calibration.probes = {{"all_gather", {{"bytes", 4096}}, {100, 300}, 200, 200},
                        {"matmul.forward.float32", {{"m", 8}}, {50, 50}, 50, 50},
                        {"softmax", {{"bytes", 8}}, {7}, 7, 7}};
  return calibration;
}

MachineState state(std::optional<double> before, std::optional<double> after,
                   std::optional<ProcessorUse> use) {
  return {before, after, use, 2};
}

TEST_CASE("what is measured again is part of every calibration") {
  const std::vector<ProbeCase> all = standard_probe_cases(), few = check_cases();
  CHECK(few.size() >= 6);
  CHECK(few.size() <= 20);
  for (const ProbeCase& each : few) {
    INFO(each.probe);
    CHECK(std::find(all.begin(), all.end(), each) != all.end());
  }
}

TEST_CASE("a slowdown is the mean over probes of ratios of means, all ranks together") {
  const std::vector<ProbeMeasurement> now = {{"all_gather", {{"bytes", 4096}}, {400}},
                                             {"all_gather", {{"bytes", 4096}}, {1200}},  // another rank
                                             {"matmul.forward.float32", {{"m", 8}}, {50, 50, 50}},
                                             {"matmul.forward.float32", {{"m", 16}}, {900}}};  // not known
  CHECK(*slowdown_of(two_probes(), now) == Approx(2.0));  // 4 times and 1 times
  CHECK_FALSE(slowdown_of(two_probes(), {}));
  CHECK_FALSE(slowdown_of(two_probes(), std::vector<ProbeMeasurement>{{"softmax", {{"bytes", 8}}, {}}}));
}

TEST_CASE("a calibration holds within a fifth, up and down") {
  for (const double slowdown : {1.0, 1.19, 0.85}) CHECK(still_holds(slowdown));
  for (const double slowdown : {1.21, 3.0, 0.8}) CHECK_FALSE(still_holds(slowdown));
}

TEST_CASE("times of a machine that stayed as it was are judged") {
  CHECK(why_times_are_not_judged({}).empty());
  CHECK(why_times_are_not_judged(state(1.1, 0.9, ProcessorUse{2, 1.9, 0.1})).empty());
  // Others had processors that the ranks did not ask for.
  CHECK(why_times_are_not_judged(state(1.0, 1.0, ProcessorUse{8, 2, 5.5})).empty());
}

TEST_CASE("times of a machine that changed are not") {
  CHECK(why_times_are_not_judged(state(1.0, 1.0, ProcessorUse{2, 1.2, 0.76})) ==
        "other programs took 38 % of the processors meanwhile");
  CHECK(why_times_are_not_judged(state(1.0, 1.0, ProcessorUse{8, 1.5, 7.2})) ==
        "other programs took 90 % of the processors meanwhile");
  CHECK(why_times_are_not_judged(state(1.0, 1.6, std::nullopt)) ==
        "after the run this machine was 1.6 times as slow as when calibrated");
  CHECK(why_times_are_not_judged(state(0.5, 1.0, std::nullopt)) ==
        "before the run this machine was 2.0 times as fast as when calibrated");
}

}  // namespace
}  // namespace shardlab
