// What figures do over the steps of a training.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "engine/doctor/series/growing_memory.h"
#include "engine/doctor/series/loss_track.h"
#include "engine/doctor/series/norm_track.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a norm is a spike from ten times the median of at least 16") {
  NormTrack track;
  for (int i = 0; i < 15; ++i) CHECK_FALSE(track.take(1.0));
  CHECK_FALSE(track.take(100.0));  // one too few before it
  CHECK_FALSE(track.take(10.0));
  const auto spike = track.take(10.1);
  REQUIRE(spike);
  CHECK(*spike == Spike{10.1, 1.0});
  CHECK_FALSE(track.take(k_nan));
  CHECK(track.spikes() == 1);
}

TEST_CASE("the median moves with the last 64 norms") {
  NormTrack track;
  for (int i = 0; i < 16; ++i) track.take(1.0);
  for (int i = 0; i < 64; ++i) track.take(9.0);
  CHECK_FALSE(track.take(80.0));
  CHECK(track.take(91.0));
}

std::optional<Rise> rise_of(const std::vector<double>& losses) {
  LossTrack track;
  for (const double loss : losses) track.take(loss);
  return track.rise();
}

TEST_CASE("a loss has risen when four in a row lie 30 % above the best mean of four") {
  CHECK(rise_of({4, 3, 2, 2, 2, 2, 2.7, 2.7, 2.7, 2.7}));
  CHECK(rise_of({4, 3, 2, 2, 2, 2, 2.7, 2.7, k_nan, 2.7, 2.7}));
  CHECK_FALSE(rise_of({4, 3, 2, 2, 2, 2, 2.7, 2.5, 2.7, 2.7}));  // one of them lies below
  CHECK_FALSE(rise_of({4, 3, 2, 2, 2, 2, 9.0, 2.1, 2.0, 2.1}));  // one bad batch
  CHECK_FALSE(rise_of({2, 3, 4, 5, 6, 7, 8}));                   // too few
  CHECK_FALSE(rise_of({}));
  CHECK(rise_of({5.6, 900, 800, 900, 700, 800, 900, 700})->best == 5.6);  // lost in the first step
  CHECK_FALSE(rise_of({0.9, 1.3, 1.2, 1.3, 1.2, 1.3, 1.2, 1.3}));         // an easy first batch
  const auto rise = rise_of({2, 2, 2, 2, 3, 4, 5, 6});
  REQUIRE(rise);
  CHECK(rise->best == 2);
  CHECK(rise->now == 4.5);
}

std::optional<Growth> growth_of(int steps, double (*memory)(int step)) {
  MemoryTrack track;
  for (int step = 0; step < steps; ++step) track.take(memory(step));
  return track.growth();
}

TEST_CASE("memory that leaks grows as much at the end as at the beginning") {
  CHECK(growth_of(12, [](int step) { return 10 + 0.5 * step; }));
  CHECK(growth_of(100'000, [](int step) { return 10 + 1e-3 * step; }));
  CHECK_FALSE(growth_of(11, [](int step) { return 10 + 0.5 * step; }));                  // too few
  CHECK_FALSE(growth_of(100, [](int step) { return 10 + 0.005 * step; }));               // 4 %
  CHECK_FALSE(growth_of(100, [](int step) { return step < 30 ? 10.0 + step : 40.0; }));  // fills up
  CHECK_FALSE(growth_of(100, [](int step) { return 10.0 + (step * 7919) % 13; }));       // goes up and down
  CHECK_FALSE(growth_of(100, [](int step) { return 10 + std::log1p(step); }));           // the highest so far
  CHECK_FALSE(growth_of(100, [](int) { return 0.0; }));
}

}  // namespace
}  // namespace shardlab
