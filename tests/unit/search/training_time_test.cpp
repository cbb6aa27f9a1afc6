#include "simulator/search/training_time.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

// One training with failures: pieces, each followed by a checkpoint, done again from the last one after a
// failure, a downtime and a recovery that may fail too.
double played_hours(double work, double interval, const FailureModel& model, test::Numbers& numbers) {
  const auto until_failure = [&] { return -std::log(1 - numbers.fraction()) / model.rate; };
  double hours = 0;
  for (double done = 0; done < work - 1e-9; done += interval) {
    for (double failure = until_failure(); failure < interval + model.checkpoint; failure = until_failure()) {
      hours += failure + model.downtime;
      for (double again = until_failure(); again < model.recovery; again = until_failure())
        hours += again + model.downtime;
      hours += model.recovery;
    }
    hours += interval + model.checkpoint;
  }
  return hours;
}

}  // namespace

// arXiv 2410.21680: 6.5 failures in 1,000 node-days of 8 GPUs give 1.8 h between failures of 16,384 GPUs and
// 0.23 h of 131,072.
TEST_CASE("published rates give the published times between failures") {
  Failures failures;
  failures.rate = {6.5, 1000, true, "arXiv 2410.21680"};
  CHECK(1 / failure_model(failures, nullptr, 16'384, 16'384 / 8).rate == Approx(1.8).epsilon(0.01));
  CHECK(1 / failure_model(failures, nullptr, 131'072, 131'072 / 8).rate == Approx(0.23).epsilon(0.03));
}

// arXiv 2407.21783: 419 unexpected interruptions in 54 days on 16,384 GPUs.
TEST_CASE("rates of single GPUs are rates of as many GPUs") {
  Failures failures;
  failures.rate = {419, 54.0 * 16'384, false, "arXiv 2407.21783"};
  CHECK(1 / failure_model(failures, nullptr, 16'384, 2048).rate == Approx(54 * 24 / 419.0));
}

TEST_CASE("hours with failures are those of a seeded Monte Carlo within one percent") {
  struct Case {
    double work, interval;
    FailureModel model;
  };
  const Case cases[] = {
      {100, 2, {1 / 10.0, 0.1, 0.2, 0.3}},
      {200, 0.5, {1 / 1.8, 0.05, 0.1, 0.1}},
      {1000, 10, {1 / 200.0, 0.02, 1, 0.5}},
      {40, 4, {1 / 4.0, 0.2, 0.5, 1}},
  };
  test::Numbers numbers(19);
  for (const Case& each : cases) {
    constexpr int k_runs = 20'000;
    double sum = 0;
    for (int i = 0; i < k_runs; ++i) sum += played_hours(each.work, each.interval, each.model, numbers);
    CHECK(hours_with_failures(each.work, each.interval, each.model) == Approx(sum / k_runs).epsilon(0.01));
  }
}

TEST_CASE("the best interval is better than those beside it") {
  const FailureModel model{1 / 10.0, 0.1, 0.2, 0.3};
  const double best = best_interval(100, model);
  const double least = hours_with_failures(100, best, model);
  for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
    CHECK(hours_with_failures(100, best * factor, model) > least);
  // Young's approximation for rare failures.
  const FailureModel rare{1e-4, 0.01, 0, 0};
  CHECK(best_interval(1e6, rare) == Approx(std::sqrt(2 * 0.01 / 1e-4)).epsilon(0.01));
  CHECK(best_interval(3, rare) == 3);  // shorter than the interval: one checkpoint, at the end
}

TEST_CASE("without failures a training takes its steps, without a price no money is known") {
  Training training;
  training.tokens = 1000;
  const StepTimes steps{2e9, 1e9, 100, 16, 2};  // ten steps of a second, the first takes two
  const TrainingCosts costs = training_costs(training, steps, {});
  CHECK(*costs.hours == Approx(11.0 / 3600));
  CHECK(!costs.dollars);
  CHECK(!costs.money);
  CHECK(*training_costs(training, steps, {36.0}).dollars == Approx(11.0 / 3600 * 2 * 36));
}

TEST_CASE("without tokens costs are those of a token") {
  const TrainingCosts costs = training_costs({}, {2e9, 1e9, 100, 16, 2}, {36.0});
  CHECK(costs.time == Approx(0.01));
  CHECK(!costs.hours);
  CHECK(!costs.dollars);
  CHECK(*costs.money == Approx(0.01 / 3600 * 2 * 36));
}

TEST_CASE("evaluation, interruptions and energy, by hand") {
  Training training;
  training.tokens = 1000;
  StepTimes steps{2e9, 1e9, 100, 16, 2};
  steps.forward_ns = 3e8;
  steps.busy_ns = 5e8;
  steps.watts = 700;
  training.evaluation = Evaluation{10, 5};  // 1.5 s after every ten steps
  const double hours = (2 + 9 * 1.15) / 3600;
  CHECK(*training_costs(training, steps, {}).hours == Approx(hours));
  // 16 GPUs of 700 W, half of the step busy, two hosts of 1.5 kW, a fifth on top.
  const double kilowatt_hours = hours * (16 * 0.7 * (0.35 + 0.6 * 0.5) + 3) * 1.2;
  CHECK(*training_costs(training, steps, {}).kilowatt_hours == Approx(kilowatt_hours));
  CHECK(!training_costs(training, steps, {}).money);
  training.energy.price = 0.2;
  CHECK(*training_costs(training, steps, {36.0}).dollars == Approx(hours * 2 * 36 + kilowatt_hours * 0.2));
  Rented own;
  own.owned = true;
  CHECK(*training_costs(training, steps, own).dollars == Approx(kilowatt_hours * 0.2));
  CHECK(!training_costs(training, steps, {}).dollars);  // to be rented at an unknown price
}

// 5 interruptions in 100 node-days of 4 nodes, and 6.5 failures in 1,000 of them.
TEST_CASE("interruptions of a spot offer are failures besides") {
  Failures failures;
  failures.rate = {6.5, 1000, true, "a test"};
  const EventRate interruptions{5, 100, true, "a test"};
  CHECK(failure_model(failures, &interruptions, 32, 4).rate == Approx((6.5 / 1000 + 5.0 / 100) * 4 / 24));
}

TEST_CASE("longer steps never make a training shorter") {
  Training training;
  training.tokens = 1'000'000;
  training.failures =
      Failures{{6.5, 1000, true, "a test"}, {60'000'000'000}, {600'000'000'000}, {300'000'000'000}};
  test::Numbers numbers(7);
  for (int i = 0; i < 2000; ++i) {
    const double step = 1e6 + numbers.fraction() * 1e12;
    const double longer = step * (1 + numbers.fraction() * 1e-6);
    const TrainingCosts a = training_costs(training, {step, step, 64, 8, 1}, {10.0});
    const TrainingCosts b = training_costs(training, {longer, longer, 64, 8, 1}, {10.0});
    CHECK(a.time <= b.time * (1 + 1e-12));
  }
}

}  // namespace shardlab
