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
