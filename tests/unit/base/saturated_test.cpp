#include "engine/base/limits/saturated.h"

#include <cmath>

#include "engine/base/dtype.h"
#include "engine/base/units.h"
#include "engine/model/shape.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_most = k_largest_integer, k_least = k_least_integer;

TEST_CASE("what an integer holds is exact, what is beyond is the largest or the smallest there is") {
  CHECK(saturated_sum(2, 3) == 5);
  CHECK(saturated_sum(k_most, k_least) == -1);
  CHECK(saturated_sum(k_most, 1) == k_most);
  CHECK(saturated_sum(k_least, -1) == k_least);
  CHECK(saturated_difference(3, 5) == -2);
  CHECK(saturated_difference(k_most, -1) == k_most);
  CHECK(saturated_difference(k_least, 1) == k_least);
  CHECK(saturated_product(-4, 5) == -20);
  CHECK(saturated_product(k_most, 2) == k_most);
  CHECK(saturated_product(k_most, -2) == k_least);
  CHECK(saturated_product(k_least, -1) == k_most);
  CHECK(saturated_product(std::int64_t{1} << 40, std::int64_t{1} << 40, 2) == k_most);
  CHECK(saturated_product(2, 3, 5, 7) == 210);
  CHECK(saturated_product(k_most, k_most, 0) == 0);
}

TEST_CASE("numbers too large to round are the largest integer, and so is what is no number") {
  CHECK(saturated_round(2.5) == 3);
  CHECK(saturated_round(-2.4) == -2);
  CHECK(saturated_round(1e30) == k_most);
  CHECK(saturated_round(-1e30) == k_least);
  CHECK(saturated_round(std::nan("")) == k_most);
}

TEST_CASE("bytes, FLOPs and times do not wrap round") {
  const Bytes large{k_most - 1};
  CHECK((large + large).value == k_most);
  CHECK((large * 3).value == k_most);
  CHECK((3 * large).value == k_most);
  CHECK((Bytes{} - large - large - large).value == k_least);
  CHECK((-Bytes{k_least}).value == k_most);
  Bytes sum = large;
  sum += large;
  CHECK(sum.value == k_most);
  CHECK((large / BytesPerSecond{1}).value == k_most);
  CHECK((Flops{1'000} / FlopsPerSecond{1e9}).value == 1'000);
  CHECK(bytes_of(k_most, DType::float32).value == k_most);
  CHECK(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}) == k_most);
  CHECK(element_count({3, 4}) == 12);
}

}  // namespace
}  // namespace shardlab
