// Shares of resources against arithmetic done by hand.
#include "simulator/core/fair_shares.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using Running = std::vector<std::vector<ResourceUse>>;

std::vector<double> rates_of(const Running& running) {
  std::vector<ResourceUses> uses(running.begin(), running.end());
  std::vector<std::int64_t> rates;
  fair_rates(uses, rates);
  std::vector<double> fractions;
  for (const std::int64_t rate : rates)
    fractions.push_back(static_cast<double>(rate) / static_cast<double>(k_full_share));
  return fractions;
}

ResourceUse use(std::uint32_t resource, double fraction) {
  return {resource, resource_share(fraction)};
}

void check_rates(const Running& running, const std::vector<double>& expected) {
  const std::vector<double> rates = rates_of(running);
  REQUIRE(rates.size() == expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i) CHECK(rates[i] == Approx(expected[i]).margin(2e-3));
}

TEST_CASE("what fits is not slowed") {
  check_rates({}, {});
  check_rates({{use(0, 1)}}, {1});
  check_rates({{use(0, 0.4)}, {use(0, 0.6)}, {use(1, 1)}}, {1, 1, 1});
}

TEST_CASE("who wants less than an equal part gets it; the others divide the rest evenly") {
  check_rates({{use(0, 1)}, {use(0, 1)}}, {0.5, 0.5});
  // 24 of 132 multiprocessors are kept; a product has the other 108.
  check_rates({{use(0, 1)}, {use(0, 24.0 / 132)}}, {108.0 / 132, 1});
  // Two products and a ring: (1 - 0.2) / 2 each.
  check_rates({{use(0, 1)}, {use(0, 0.2)}, {use(0, 1)}}, {0.4, 1, 0.4});
  // The first wants 0.6 and finds a half; that is 5/6 of its speed.
  check_rates({{use(0, 0.6)}, {use(0, 1)}}, {0.5 / 0.6, 0.5});
}

TEST_CASE("work goes as fast as the scarcest of its resources lets it, and leaves the rest of the others") {
  // On the wire (1) both collectives have half. At half speed each takes 0.2 of the memory (0), which leaves
  // the copy 0.6, not the 0.2 that it would have beside two of 0.4.
  check_rates({{use(0, 0.4), use(1, 1)}, {use(0, 0.4), use(1, 1)}, {use(0, 1)}}, {0.5, 0.5, 0.6});
}

TEST_CASE("what is held is taken at any speed") {
  // Two rings at half speed on their wire (1) still hold a quarter of the multiprocessors (0) each.
  const std::vector<ResourceUse> ring{{0, k_full_share / 4, true}, use(1, 1)};
  check_rates({ring, ring, {{0, k_full_share, true}}}, {0.5, 0.5, 0.5});
}

TEST_CASE("shares are of the whole") {
  CHECK(resource_share(1) == k_full_share);
  CHECK(resource_share(7) == k_full_share);
  CHECK(resource_share(0.25) == k_full_share / 4);
  CHECK(resource_share(1e-12) == 1);
}

}  // namespace
}  // namespace shardlab
