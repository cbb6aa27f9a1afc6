#include "engine/report/alike_layers.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

DifferenceRow row(const std::string& name, double first, std::optional<double> second) {
  return {name, MetricUnit::nanoseconds, first, second};
}

std::vector<std::string> names(const std::vector<DifferenceRow>& rows) {
  std::vector<std::string> all;
  for (const DifferenceRow& each : with_alike_layers_joined(rows)) all.push_back(each.name);
  return all;
}

TEST_CASE("neighbouring layers that say the same are one row with their means") {
  const std::vector<DifferenceRow> rows = {row("the root unit", 50, 80), row("layer 2", 20.1, 30),
                                           row("layer 1", 20, 30),       row("layer 10", 20, 30),
                                           row("layer 3", 19.9, 30),     row("layer 0", 18, 30)};
  const auto joined = with_alike_layers_joined(rows);
  REQUIRE(joined.size() == 4);
  CHECK(joined[0] == rows[0]);
  CHECK(joined[1].name == "layers 1 to 3, each");
  CHECK(*joined[1].first == Approx(20));
  CHECK(*joined[1].second == 30);
  CHECK(joined[2].name == "layer 10");
  CHECK(joined[3].name == "layer 0");
}

TEST_CASE("layers that differ in one of the figures, and two of a kind, stay apart") {
  CHECK(names({row("layer 0", 20, 30), row("layer 1", 20, 31), row("layer 2", 20, 30)}).size() == 3);
  CHECK(names({row("layer 0", 20, 30), row("layer 1", 20, 30)}).size() == 2);
  CHECK(names({row("layer 0", 20, {}), row("layer 1", 20, 30), row("layer 2", 20, 30)}).size() == 3);
  CHECK(names({row("layer 0", 20, {}), row("layer 1", 20, {}), row("layer 2", 20, {})}) ==
        std::vector<std::string>{"layers 0 to 2, each"});
  CHECK(names({row("layer norm", 1, 1), row("layer 18446744073709551616", 1, 1)}).size() == 2);
}

}  // namespace
}  // namespace shardlab
