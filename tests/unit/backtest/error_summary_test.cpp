#include "simulator/backtest/error_summary.h"

#include <cmath>

#include "simulator/backtest/error_bands.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

BacktestRow row(const std::string& id, const std::string& series, double published, double predicted) {
  BacktestRow row;
  row.id = id;
  row.series = series;
  row.source = series;
  row.figure = "peak_allocated";
  row.published = published;
  row.predicted = predicted;
  row.error = predicted / published - 1;
  row.expressible = true;
  row.groups = {{"source", series}};
  return row;
}

BacktestRow inexpressible(const std::string& series) {
  BacktestRow row;
  row.figure = "peak_allocated";
  row.published = 1;
  row.reason = "not built";
  row.groups = {{"source", series}};
  return row;
}

}  // namespace

TEST_CASE("quantiles lie between neighbours in proportion") {
  CHECK(quantile({4, 1, 3, 2}, 0) == 1);
  CHECK(quantile({4, 1, 3, 2}, 1) == 4);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({0, 10}, 0.9) == Approx(9));
  CHECK(quantile({7}, 0.9) == 7);
}

// Errors +100 %, -50 %, +10 %: |error| 0.1, 0.5, 1.0; ratios 2, 1/2 and 1.1, whose geometric mean
// is 1.1^(1/3).
TEST_CASE("errors are added up by group, by hand") {
  const std::vector<BacktestRow> rows{row("a", "x", 100, 200), row("b", "x", 100, 50),
                                      row("c", "y", 100, 110), inexpressible("y"), inexpressible("z")};
  const std::vector<BacktestSummary> summary = summarize_errors(rows);
  REQUIRE(summary.size() == 4);
  const BacktestSummary& all = summary[0];
  CHECK(all.by == "all");
  CHECK(all.rows == 5);
  CHECK(all.expressible == 3);
  CHECK(all.n == 3);
  CHECK(all.median == Approx(0.5));
  CHECK(all.mean == Approx(1.6 / 3));
  CHECK(all.p90 == Approx(0.9));
  CHECK(all.worst == Approx(1.0));
  CHECK(all.bias == Approx(std::cbrt(1.1) - 1));
  CHECK(summary[1].key == "x");  // most predicted rows first
  CHECK(summary[1].bias == Approx(0).margin(1e-12));
  CHECK(summary[2].key == "y");
  CHECK(summary[2].rows == 2);
  CHECK(summary[3].n == 0);
}

TEST_CASE("a verdict alone is no figure, and a run with two figures has one verdict") {
  BacktestRow failed;
  failed.id = "failed";
  failed.expressible = true;
  failed.ran_out_of_memory = true;
  failed.fits = Fit::no;
  BacktestRow ran = row("a", "x", 1, 1);
  ran.fits = Fit::unsure;
  const std::vector<BacktestRow> rows{ran, ran, failed};
  CHECK(summarize_errors(rows).front().rows == 2);
  const BacktestVerdicts verdicts = count_verdicts(rows);
  CHECK(verdicts.ran == std::array<int, 3>{0, 1, 0});
  CHECK(verdicts.ran_out_of_memory == std::array<int, 3>{0, 0, 1});
}

// Series y has residuals log 1 .. log 6 with a weight of 1/6 each, series z has log 10 with a weight of 1. Of
// their total of 2 the first tenth, 0.2, ends within log 2; nine tenths, 1.8, only within log 10.
TEST_CASE("bands are quantiles of what others were off by, every series with the same weight") {
  std::vector<BacktestRow> rows{row("a", "x", 140, 300)};
  for (int i = 1; i <= 6; ++i) rows.push_back(row("y" + std::to_string(i), "y", 1, i));
  rows.push_back(row("z", "z", 1, 10));
  rows.front().error = 1;  // its own residual, log 2
  const auto within = set_bands(rows, 0.8);
  CHECK(*rows[0].low == Approx(300.0 / 10));
  CHECK(*rows[0].high == Approx(300.0 / 2));
  CHECK_FALSE(rows[1].low);  // of x and z there are two residuals, too few
  // z: those of x and y, 1.8 of 2 ends within log 5; its own log 10 is not among them.
  CHECK(*rows[7].low == Approx(10.0 / 5));
  CHECK(*rows[7].high == Approx(10.0 / 2));
  REQUIRE(within);
  CHECK(*within == Approx(0.5));  // of a and z, a
  for (BacktestRow& each : rows) each.groups = {{"source", each.series}};
  const std::vector<BacktestSummary> summary = summarize_errors(rows);
  CHECK(summary[0].banded == 2);
  CHECK(summary[0].in_band == 1);
  for (const BacktestSummary& each : summary) {
    if (each.key == "x") CHECK(std::pair(each.banded, each.in_band) == std::pair(1, 1));
    if (each.key == "y") CHECK(each.banded == 0);
    if (each.key == "z") CHECK(std::pair(each.banded, each.in_band) == std::pair(1, 0));
  }
}

// The first 5 % end within log 1, 95 % within log 10 as nine tenths do.
TEST_CASE("bands hold as much as is asked for") {
  std::vector<BacktestRow> rows{row("a", "x", 140, 300)};
  for (int i = 1; i <= 6; ++i) rows.push_back(row("y" + std::to_string(i), "y", 1, i));
  rows.push_back(row("z", "z", 1, 10));
  set_bands(rows, 0.9);
  CHECK(*rows[0].low == Approx(300.0 / 10));
  CHECK(*rows[0].high == Approx(300.0));
}

TEST_CASE("too few sources give no bands") {
  std::vector<BacktestRow> rows{row("a", "x", 1, 2), row("b", "y", 1, 2)};
  CHECK_FALSE(set_bands(rows, 0.8));
  CHECK_FALSE(rows[0].low);
}

}  // namespace shardlab
