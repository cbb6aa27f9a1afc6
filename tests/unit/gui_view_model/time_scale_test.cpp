#include "gui/view_model/time_scale.h"

#include "tests/catch.h"

using namespace shardlab;
using namespace shardlab::view;

TEST_CASE("pixels and times are each other's inverse") {
  const TimeScale scale{100, 300, 800};
  CHECK(scale.pixel(Nanoseconds{100}) == 0);
  CHECK(scale.pixel(Nanoseconds{300}) == 800);
  CHECK(scale.time_at(400) == 200);
  CHECK(scale.span_of(4) == 1);
}

TEST_CASE("an axis has one unit and tells neighbouring ticks apart") {
  CHECK(axis_time(50e6, 200e6) == "50 ms");
  CHECK(axis_time(1.5e9, 10e9) == "1.5 s");
  CHECK(axis_time(100.02e6, 0.4e6) == "100020 us");
  CHECK(axis_time(100.021e6, 4e6) != axis_time(100.221e6, 4e6));
  CHECK(axis_time(12, 40) == "12 ns");
  CHECK(axis_time(-1e-9, 10e9) == "0.0 s");
}

TEST_CASE("ticks are round, in sight, and no more than there is room for") {
  CHECK(tick_places(0, 100, 5) == std::vector<double>{0, 20, 40, 60, 80, 100});
  CHECK(tick_places(-2, 102, 3) == std::vector<double>{0, 50, 100});
  CHECK(tick_places(0.3e6, 0.9e6, 10) ==
        std::vector<double>{0.3e6, 0.4e6, 0.5e6, 0.6e6, 0.7e6, 0.8e6, 0.9e6});
  CHECK(tick_places(7, 7.5, 2).size() <= 3);
  for (const double visible : {1e2, 3.3e4, 7.7e8, 9.99e11}) {
    for (const int most : {2, 5, 12}) {
      const auto places = tick_places(visible * 12.3, visible * 13.3, most);
      CHECK(places.size() >= 1);
      CHECK(places.size() <= static_cast<std::size_t>(most) + 1);
      CHECK(places.front() >= visible * 12.3);
      CHECK(places.back() <= visible * 13.3);
    }
  }
}
