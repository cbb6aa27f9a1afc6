#include "gui/view_model/search/search_points.h"

#include <cmath>

#include "gui/view_model/search/point_density.h"
#include "tests/catch.h"

namespace shardlab::view {
namespace {

SearchPoints some_points() {
  SearchPoints points;
  const std::vector<double> times = {1, 2, 3, 4}, memories = {40, 30, 35, 10};
  points.values[static_cast<std::size_t>(SearchAxis::time)] = times;
  points.values[static_cast<std::size_t>(SearchAxis::memory)] = memories;
  points.satisfies = {1, 1, 1, 0};
  points.on_front = {1, 1, 0, 0};
  points.knobs = {"parallel fsdp2, train.micro_batch 1", "parallel fsdp1, train.micro_batch 1",
                  "parallel fsdp2, train.micro_batch 2", ""};
  return points;
}

}  // namespace

TEST_CASE("points pass a filter by their words and by whether they satisfy") {
  const SearchPoints points = some_points();
  CHECK(passing(points, {}) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(passing(points, {false, ""}).size() == 4);
  CHECK(passing(points, {true, "fsdp2 micro_batch 1"}) == std::vector<std::uint32_t>{0});
  CHECK(passing(points, {true, "zero"}).empty());
}

TEST_CASE("the front of two axes, ranges and the nearest point") {
  const SearchPoints points = some_points();
  const std::vector<std::uint32_t> all = passing(points, {});
  CHECK(front_of(points, all, SearchAxis::time, SearchAxis::memory) == std::vector<std::uint32_t>{0, 1});
  const AxisRange range = range_of(points.of(SearchAxis::time), all);
  CHECK(range.low < 1);
  CHECK(range.high > 3);
  const auto& x = points.of(SearchAxis::time);
  const auto& y = points.of(SearchAxis::memory);
  CHECK(nearest_point(x, y, all, {2.05, 30}, {0.1, 1}) == 1);
  CHECK(!nearest_point(x, y, all, {2.5, 30}, {0.1, 1}));
  const std::vector<double> unknown(4, std::nan(""));
  CHECK(!nearest_point(unknown, y, all, {1, 40}, {1, 1}));
  CHECK(range_of(unknown, all).high == 1);
}

TEST_CASE("counts of points in a grid") {
  const SearchPoints points = some_points();
  PointDensity density;
  count_points(points.of(SearchAxis::time), points.of(SearchAxis::memory), passing(points, {}),
               {AxisRange{0, 4}, AxisRange{20, 40.001}}, 2, 2, density);
  CHECK(density.counts == std::vector<std::uint32_t>{0, 1, 1, 1});
  CHECK(density.most == 1);
}

}  // namespace shardlab::view
