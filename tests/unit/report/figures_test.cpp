#include "engine/report/figures.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace shardlab;

TEST_CASE("figures") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(percent(0.4123) == "41.2 %");
  CHECK(percent(0.00123) == "0.12 %");
  CHECK(chance(0.891) == "89 %");
  CHECK(chance(0.99) == "99 %");
  CHECK(chance(0.999) == "over 99 %");
  CHECK(chance(1) == "over 99 %");
  CHECK(chance(0.004) == "under 1 %");
  CHECK(signed_percent(-0.05) == "-5.0 %");
  CHECK(signed_percent(0.05) == "+5.0 %");
  CHECK(rate(12345.6) == "12,346");
  CHECK(rate(12.34) == "12.3");
  CHECK(rate(std::nan("")) == "-");
  CHECK(metric_figure(1.5e6, MetricUnit::nanoseconds) == "1.50 ms");
  CHECK(metric_figure(2048.0, MetricUnit::bytes) == "2.00 KiB");
  CHECK(metric_figure(std::nullopt, MetricUnit::bytes) == "-");
}

TEST_CASE("sparkline") {
  CHECK(sparkline({}, 10).empty());
  const std::vector<double> falling = {8, 7, 6, 5, 4, 3, 2, 1};
  CHECK(sparkline(falling, 8) == "\u2588\u2587\u2586\u2585\u2584\u2583\u2582\u2581");
  CHECK(sparkline(falling, 2) == "\u2588\u2581");
  const std::vector<double> flat = {2, 2};
  CHECK(sparkline(flat, 10) == "\u2581\u2581");
  const std::vector<double> broken = {1, std::nan(""), std::numeric_limits<double>::infinity(), 2};
  CHECK(sparkline(broken, 4) == "\u2581  \u2588");
}
