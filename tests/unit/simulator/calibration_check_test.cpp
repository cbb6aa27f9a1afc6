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

Slowdown all(double factor) {
  return {{CheckedGroup::products, factor}, {CheckedGroup::collectives, factor}};
}

MachineState state(Slowdown before, Slowdown after, std::optional<ProcessorUse> use) {
  return {std::move(before), std::move(after), use, 2};
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

TEST_CASE("a slowdown is by group, the mean over its probes of ratios of means, all ranks together") {
  const std::vector<ProbeMeasurement> now = {{"all_gather", {{"bytes", 4096}}, {400}},
                                             {"all_gather", {{"bytes", 4096}}, {1200}},  // another rank
                                             {"matmul.forward.float32", {{"m", 8}}, {50, 50, 50}},
                                             {"matmul.forward.float32", {{"m", 16}}, {900}}};  // not known
  const Slowdown slowdown = slowdown_of(two_probes(), now).value();
  REQUIRE(slowdown.size() == 2);  // softmax was not measured again
  CHECK(slowdown[0] == GroupSlowdown{CheckedGroup::products, 1});
  CHECK(slowdown[1].group == CheckedGroup::collectives);
  CHECK(slowdown[1].factor == Approx(4.0));
  CHECK(worst_of(slowdown) == slowdown[1]);
  CHECK_FALSE(slowdown_of(two_probes(), {}));
  CHECK_FALSE(slowdown_of(two_probes(), std::vector<ProbeMeasurement>{{"softmax", {{"bytes", 8}}, {}}}));
}

// The mean of all would say that nothing changed.
TEST_CASE("collectives twice as fast and products twice as slow are a machine that changed") {
  const std::vector<ProbeMeasurement> now = {{"all_gather", {{"bytes", 4096}}, {50, 150}},
                                             {"matmul.forward.float32", {{"m", 8}}, {100, 100}}};
  CHECK_FALSE(still_holds(slowdown_of(two_probes(), now).value()));
  const std::vector<ProbeMeasurement> one = {{"all_gather", {{"bytes", 4096}}, {31, 31}},  // 38.7 ms, then 6
                                             {"matmul.forward.float32", {{"m", 8}}, {50, 50}}};
  const Slowdown slowdown = slowdown_of(two_probes(), one).value();
  CHECK_FALSE(still_holds(slowdown));
  CHECK(why_times_are_not_judged(state(all(1), slowdown, std::nullopt)) ==
        "after the run the collectives of this machine were 6.5 times as fast as when calibrated");
}

TEST_CASE("every case that is measured again belongs to the group of what it gives") {
  CHECK(group_of_probe("matmul.input_gradient.bfloat16") == CheckedGroup::products);
  CHECK(group_of_probe("reduce_scatter") == CheckedGroup::collectives);
  CHECK(group_of_probe("rms_norm.backward.float32") == CheckedGroup::operators);
  int products = 0, operators = 0, collectives = 0;
  for (const ProbeCase& each : check_cases()) {
    const CheckedGroup group = group_of_case(each);
    ++(group == CheckedGroup::products    ? products
       : group == CheckedGroup::operators ? operators
                                          : collectives);
  }
  CHECK(products >= 2);
  CHECK(operators >= 2);
  CHECK(collectives >= 4);
}

TEST_CASE("what is measured again takes the place of what was measured before, and nothing else's") {
  const std::vector<ProbeMeasurement> before = {{"all_gather", {{"bytes", 4}}, {9}},
                                                {"all_gather", {{"bytes", 4}}, {8}},  // another rank
                                                {"all_gather", {{"bytes", 8}}, {7}},
                                                {"softmax", {{"bytes", 4}}, {6}}};
  const std::vector<ProbeMeasurement> again = {{"all_gather", {{"bytes", 4}}, {2}},
                                               {"all_gather", {{"bytes", 8}}, {}}};  // the budget was spent
  CHECK(with_new(before, again) == std::vector<ProbeMeasurement>{before[2], before[3], again[0], again[1]});
}

TEST_CASE("a calibration holds within a fifth, up and down") {
  for (const double slowdown : {1.0, 1.19, 0.85}) CHECK(still_holds(slowdown));
  for (const double slowdown : {1.21, 3.0, 0.8}) CHECK_FALSE(still_holds(slowdown));
}

TEST_CASE("times of a machine that stayed as it was are judged") {
  CHECK(why_times_are_not_judged({}).empty());
  CHECK(why_times_are_not_judged(state(all(1.1), all(0.9), ProcessorUse{2, 1.9, 0.1})).empty());
  // Others had processors that the ranks did not ask for.
  CHECK(why_times_are_not_judged(state(all(1), all(1), ProcessorUse{8, 2, 5.5})).empty());
}

TEST_CASE("times of a machine that changed are not") {
  CHECK(why_times_are_not_judged(state(all(1), all(1), ProcessorUse{2, 1.2, 0.76})) ==
        "other programs took 38 % of the processors meanwhile");
  CHECK(why_times_are_not_judged(state(all(1), all(1), ProcessorUse{8, 1.5, 7.2})) ==
        "other programs took 90 % of the processors meanwhile");
  CHECK(why_times_are_not_judged(state(all(1), all(1.6), std::nullopt)) ==
        "after the run the matrix products of this machine were 1.6 times as slow as when calibrated");
  CHECK(why_times_are_not_judged(state(all(0.5), all(1), std::nullopt)) ==
        "before the run the matrix products of this machine were 2.0 times as fast as when calibrated");
}

}  // namespace
}  // namespace shardlab
