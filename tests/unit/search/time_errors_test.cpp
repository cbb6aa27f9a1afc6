#include "simulator/search/time_errors.h"

#include <cmath>

#include <fmt/format.h>

#include "simulator/search/chances.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// One series of four runs in two groups and one of a single run.
TimeErrors some_errors() {
  return TimeErrors({{"a", 1, 1.0}, {"a", 1, 1.1}, {"a", 2, 0.9}, {"a", 2, 1.2}, {"b", 3, 2.0}});
}

}  // namespace

// Weights are 1/8 for each of a, 1/2 for b: worth 1 / (4/64 + 1/4) = 3.2 independent ones.
TEST_CASE("every series of published runs weighs the same") {
  const TimeErrors errors = some_errors();
  CHECK(errors.at_most(1.0) == Approx((3.2 * 0.25 + 1) / 5.2));
  CHECK(errors.at_most(1.99) == Approx((3.2 * 0.5 + 1) / 5.2));
  CHECK(errors.at_most(100) == Approx(4.2 / 5.2));
  CHECK(errors.quantile(0.1) == 0.9);
  CHECK(errors.quantile(0.9) == 2.0);
}

// Series a has two pairs, whose errors differ by log 1.1 and log 4/3; b has none.
TEST_CASE("what two runs of a group share of their errors cancels") {
  const TimeErrors errors = some_errors();
  CHECK(errors.faster(1) == 0.5);
  CHECK(errors.faster(1.05) == 0.5);
  CHECK(errors.faster(1.2) == Approx(0.5 + 0.5 * 0.5 * 2 / 3));
  CHECK(errors.faster(1.5) == Approx(0.5 + 0.5 * 2 / 3));
  CHECK(errors.faster_elsewhere(1) == Approx(0.5));
  CHECK(errors.faster_elsewhere(1.5) < errors.faster(1.5));
  CHECK(errors.faster_elsewhere(3) > errors.faster_elsewhere(1.5));
}

TEST_CASE("the stored errors of time are those of many sources") {
  const auto errors = TimeErrors::read();
  REQUIRE_OK(errors);
  fmt::print("8 of 10 published times are {:.2f} to {:.2f} of the predicted\n", errors->quantile(0.1),
             errors->quantile(0.9));
  // Two are called equal where the one that seems slower is the faster at least nine times in twenty.
  CHECK(errors->faster(1 + k_equal) < 0.55);
  double last = 0.5;
  for (const double ratio : {1.01, 1.02, 1.05, 1.1, 1.2, 1.5}) {
    const double same = errors->faster(ratio), other = errors->faster_elsewhere(ratio);
    fmt::print("predicted to be {:.0f} % faster: is so with {:.0f} %, on other hardware with {:.0f} %\n",
               (ratio - 1) * 100, same * 100, other * 100);
    CHECK(same >= last);
    CHECK(same > other);
    CHECK(same < 1);
    last = same;
  }
}

TEST_CASE("chances of a deadline and a budget follow from the errors") {
  SearchQuestion question;
  question.training.tokens = 3'600'000;
  question.needs.hours = 1.05;
  question.needs.dollars = 21;
  Offer offer;
  offer.price = 10;
  Candidate candidate;
  candidate.figures.step_time = candidate.figures.first_step = {1'000'000'000};
  candidate.figures.tokens = 1000;
  candidate.configuration.offer = &offer;
  candidate.configuration.gpus = 8;
  candidate.costs = training_costs(question.training, steps_of(candidate.configuration, candidate.figures),
                                   rented(question, candidate.configuration));
  CHECK(*candidate.costs.hours == Approx(1));
  CHECK(*candidate.costs.dollars == Approx(10));
  const TimeErrors errors = some_errors();
  const Chances chances = chances_of(question, candidate, errors);
  CHECK(*chances.in_time == Approx(errors.at_most(1.05)));
  CHECK(*chances.in_budget == Approx(errors.at_most(2.1)));
  CHECK(chances.hours->low == Approx(0.9));
  CHECK(chances.hours->high == Approx(2));
  CHECK(chances.dollars->high == Approx(20));
}

TEST_CASE("of two candidates the better one is so with a chance, by what the order compares") {
  const TimeErrors errors = some_errors();
  Candidate a, b;
  a.costs.time = 1;
  b.costs.time = 1.2;
  a.configuration.gpus = 8;
  b.configuration.gpus = 16;
  CHECK(*chance_before({SearchObjective::time, {}}, a, b, errors) == Approx(errors.faster(1.2)));
  CHECK(!chance_before({SearchObjective::gpus, {}}, a, b, errors));   // as many GPUs as it says
  CHECK(!chance_before({SearchObjective::money, {}}, a, b, errors));  // unknown
  b.configuration.node = "another";
  CHECK(*chance_before({SearchObjective::time, {}}, a, b, errors) == Approx(errors.faster_elsewhere(1.2)));
}

}  // namespace shardlab
