#include "simulator/memory/fit_likelihood.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "simulator/memory/reserved_ratios.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Bytes parts_of_mebibytes(double count) {
  return {static_cast<std::int64_t>(count * (1 << 20))};
}

}  // namespace

TEST_CASE("of n ratios of which k are at most so much, the next one is with (k + 1) / (n + 2)") {
  const MemoryErrors errors({1.02, 0.98, 1, 1.04});
  CHECK(errors.at_most(1.01) == Approx(3.0 / 6));
  CHECK(errors.at_most(1.04) == Approx(5.0 / 6));
  CHECK(errors.at_most(0.98) == Approx(2.0 / 6));
  CHECK(errors.at_most(0) == 0);
}

// By hand: of ten ratios the outer tenth is the largest, 1.2, and begins at 1.1.
TEST_CASE("beyond the largest ratio the chance falls off as fast as the outer tenth does") {
  const MemoryErrors errors({1, 1, 1, 1, 1, 1, 1, 1, 1.1, 1.2});
  CHECK(errors.at_most(1.2) == Approx(11.0 / 12));
  const double scale = std::log(1.2 / 1.1);
  CHECK(errors.at_most(1.5) == Approx(1 - std::exp(-std::log(1.5 / 1.2) / scale) / 12));
  CHECK(errors.at_most(0.9) == 0);  // the smallest are alike
}

TEST_CASE("a promise is never certain, and needs of 90, 95 and 99 % are different needs") {
  const auto ratios = read_reserved_ratios();
  REQUIRE_OK(ratios);
  const MemoryErrors errors(*ratios);
  const std::vector<Bytes> beside =
      equally_likely(parts_of_mebibytes(500), parts_of_mebibytes(600), parts_of_mebibytes(900));
  const Bytes need = parts_of_mebibytes(40'000);
  CHECK(likelihood(parts_of_mebibytes(1e6), need, errors, beside) == k_surest);
  CHECK(likelihood(parts_of_mebibytes(1000), need, errors, beside) == Approx(1 - k_surest));
  std::vector<double> least;  // room above the need from which on a chance holds
  for (const double wanted : {0.1, 0.5, 0.9, 0.95, 0.99}) {
    double room = -10'000;
    while (likelihood(need + parts_of_mebibytes(room), need, errors, beside) < wanted) room += 10;
    least.push_back(room);
    fmt::print("{:.0f} % from {:+.0f} MiB on\n", wanted * 100, room);
  }
  for (std::size_t i = 1; i < least.size(); ++i) CHECK(least[i] > least[i - 1]);
}

// Half of the ratios and two of nine points: by hand 1 / 9 * (7 * at_most(1) + ...).
TEST_CASE("what is beside the allocator is independent of its error") {
  const MemoryErrors errors({1, 1.1});
  // 100 of need on 100 + 10: with 0 beside there is room for 1.1, with 5 for 1, with 20 for neither.
  const auto of = [&](std::vector<Bytes> beside) {
    return likelihood(parts_of_mebibytes(110), parts_of_mebibytes(100), errors, std::move(beside));
  };
  CHECK(of({parts_of_mebibytes(5)}) == Approx(2.0 / 4));
  CHECK(of({parts_of_mebibytes(0), parts_of_mebibytes(5)}) == Approx((3.0 / 4 + 2.0 / 4) / 2));
}

TEST_CASE("the least need is found by trying, and not tried where nothing depends on it") {
  int tries = 0;
  const Bytes truth = parts_of_mebibytes(777);
  const auto tried = [&](Bytes each) {
    ++tries;
    return each >= truth ? std::optional(each) : std::nullopt;
  };
  const auto likely = [](Bytes each) { return 1 - static_cast<double>(each.value) / (1 << 30); };
  const Bytes found = least_need(parts_of_mebibytes(500), parts_of_mebibytes(1000), likely, tried);
  CHECK(found >= truth);
  CHECK(found - truth < parts_of_mebibytes(10));
  CHECK(tries < 10);
  tries = 0;
  const auto sure = [](Bytes) { return k_surest; };
  CHECK(least_need(parts_of_mebibytes(500), parts_of_mebibytes(1000), sure, tried) ==
        parts_of_mebibytes(1000));
  CHECK(tries == 0);
}

TEST_CASE("what a run that worked has reserved is enough for it") {
  int tries = 0;
  const auto tried = [&](Bytes each) {
    ++tries;
    const Bytes reserved = parts_of_mebibytes(600);
    return each >= reserved ? std::optional(reserved) : std::nullopt;
  };
  const auto likely = [](Bytes each) { return 1 - static_cast<double>(each.value) / (1 << 30); };
  CHECK(least_need(parts_of_mebibytes(599), parts_of_mebibytes(1000), likely, tried) ==
        parts_of_mebibytes(600));
  CHECK(tries == 1);
}

TEST_CASE("bands of memory are those of the sums") {
  const MemoryErrors errors({1, 2});
  const std::vector<Bytes> beside = {parts_of_mebibytes(0), parts_of_mebibytes(10)};
  CHECK(sum_at_quantile(0, parts_of_mebibytes(100), errors, beside) == parts_of_mebibytes(100));
  CHECK(sum_at_quantile(0.3, parts_of_mebibytes(100), errors, beside) == parts_of_mebibytes(110));
  CHECK(sum_at_quantile(1, parts_of_mebibytes(100), errors, beside) == parts_of_mebibytes(210));
}

}  // namespace shardlab
