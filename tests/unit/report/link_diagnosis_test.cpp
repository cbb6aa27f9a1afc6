#include "engine/report/link_diagnosis.h"

#include "engine/report/bench_report.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// All pairs of so many ranks at 100 GB/s and 10 us.
std::vector<PairLink> links_of(int ranks) {
  std::vector<PairLink> links;
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) links.push_back({a, b, {10'000 + a * 100 + b * 10}, 100e9 - a * 1e9});
  }
  return links;
}

std::string said(const std::vector<PairLink>& links) {
  std::string text;
  for (const std::string& line : findings(diagnose_links(links), links)) text += line + '\n';
  return text;
}

}  // namespace

TEST_CASE("links that are alike give no finding") {
  const auto links = links_of(8);
  CHECK(diagnose_links(links).slow_pairs.empty());
  CHECK(diagnose_links(links).slow_ranks.empty());
  CHECK_THAT(said(links), test::contains_text("no pair stands out"));
}

TEST_CASE("the one slow pair is named, by bandwidth or by latency") {
  auto links = links_of(8);
  links[5].bytes_per_second = 30e9;  // 0 - 6
  const LinkDiagnosis diagnosis = diagnose_links(links);
  REQUIRE(diagnosis.slow_pairs.size() == 1);
  CHECK(diagnosis.slow_pairs[0].second == 6);
  CHECK_THAT(said(links), test::contains_text("ranks 0 and 6 are slow: 30 GB/s"));
  links = links_of(8);
  links[5].latency = {90'000};
  CHECK_THAT(said(links), test::contains_text("ranks 0 and 6 are slow"));
}

TEST_CASE("a rank that is slow with everybody is named once, its pairs are not") {
  auto links = links_of(8);
  for (PairLink& link : links) {
    if (link.first == 3 || link.second == 3) link.bytes_per_second = 20e9;
  }
  const LinkDiagnosis diagnosis = diagnose_links(links);
  CHECK(diagnosis.slow_ranks == std::vector<int>{3});
  CHECK(diagnosis.slow_pairs.empty());
  CHECK_THAT(said(links), test::contains_text("rank 3 is slow with everybody"));
}

TEST_CASE("one link has nothing to be compared with") {
  CHECK_THAT(said(links_of(2)), test::contains_text("nothing to compare"));
  CHECK(diagnose_links({}).slow_pairs.empty());
}

TEST_CASE("rates: two FLOPs a product, causal attention, and the bus as nccl-tests counts it") {
  const BenchReport report =
      make_bench_report({{"matmul.forward.bfloat16", {{"m", 1000}, {"n", 1000}, {"k", 1000}}, 1000},
                         {"attention.forward.bfloat16",
                          {{"batch", 1}, {"heads", 2}, {"head_dim", 50}, {"sequence", 100}},
                          1000},
                         {"all_reduce", {{"bytes", 8000}, {"ranks", 8}}, 1000},
                         {"all_gather", {{"bytes", 8000}, {"ranks", 8}}, 1000},
                         {"pair", {{"bytes", 8}, {"first", 0}, {"second", 1}}, 5000},
                         {"pair", {{"bytes", 1 << 20}, {"first", 0}, {"second", 1}}, 1000}});
  REQUIRE(report.rows.size() == 4);
  CHECK(report.rows[0].rate == Approx(2e15));
  CHECK(report.rows[1].rate == Approx(4.0 * 2 * 50 * 100 * 100 / 2 * 1e6));
  CHECK(report.rows[2].bus == Approx(8e9 * 2 * 7 / 8));
  CHECK(report.rows[3].bus == Approx(8e9 * 7 / 8));
  REQUIRE(report.links.size() == 1);
  CHECK(report.links[0].latency.value == 5000);
  CHECK(report.links[0].bytes_per_second == Approx((1 << 20) * 1e6));
}

}  // namespace shardlab
