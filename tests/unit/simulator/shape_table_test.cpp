#include "simulator/cost/shape_table.h"

#include <cmath>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("an empty table corrects nothing") {
  CHECK(ShapeTable().correction({3, 4, 5}) == 1);
}

TEST_CASE("sizes on a line are interpolated between neighbours and held outside") {
  ShapeTable table;
  table.add({12, 0, 0}, 4);
  table.add({10, 0, 0}, 1);
  CHECK(table.correction({10, 0, 0}) == Approx(1));
  CHECK(table.correction({12, 0, 0}) == Approx(4));
  CHECK(table.correction({11, 0, 0}) == Approx(2));  // the middle in octaves is the geometric mean
  CHECK(table.correction({2, 0, 0}) == Approx(1));
  CHECK(table.correction({30, 0, 0}) == Approx(4));
}

TEST_CASE("scattered shapes: exact where measured, weighted by distance elsewhere") {
  ShapeTable table;
  table.add({8, 8, 8}, 2);
  table.add({10, 8, 8}, 8);
  CHECK(table.correction({8, 8, 8}) == Approx(2));
  // Off the line but as far from both: the geometric mean of 2 and 8.
  CHECK(table.correction({9, 9, 8}) == Approx(4));
  // Distances 1 and sqrt(5): weights 1 and 1/25; 2^((1 * 1 + 3 / 25) / (1 + 1 / 25)).
  CHECK(table.correction({8, 9, 8}) == Approx(std::exp2((1 + 3.0 / 25) / (1 + 1.0 / 25))));
}

}  // namespace
}  // namespace shardlab
