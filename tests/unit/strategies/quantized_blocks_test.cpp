// Blocks of quantised weights and gradients, as DeepSpeed 0.19.8 makes them.
#include "engine/strategies/zero3/quantized_blocks.h"

#include "tests/catch.h"

namespace shardlab {

TEST_CASE("blocks of weights: as few as there may be of at most 8,000 numbers, of one length") {
  CHECK(weight_blocks(8) == 1);
  CHECK(weight_blocks(8'000) == 1);
  CHECK(weight_blocks(16'000) == 2);
  CHECK(weight_blocks(2'097'152) == 512);    // a power of two: blocks of 4,096
  CHECK(weight_blocks(7'340'032) == 1'024);  // 4,096 x 14,336 over eight ranks
}

TEST_CASE("blocks of weights: few divisors make small blocks") {
  CHECK(weight_blocks(8'008) == 7);                  // 8 x 7 x 11 x 13
  CHECK(weight_blocks(8'072'000) == 1'009);          // where 1,009 would do with 8,000
  CHECK(weight_blocks(8 * 1'000'003) == 1'000'003);  // a prime: a scale for every eight numbers
}

TEST_CASE("blocks of gradients: as many as the larger dimension, of matrices that ranks divide into pairs") {
  CHECK(gradient_blocks({4'096, 14'336}, 16) == 14'336);
  CHECK(gradient_blocks({4, 2, 1'000}, 16) == 16);
  CHECK(quantizes_gradient({4'096, 14'336}, 16));
  CHECK_FALSE(quantizes_gradient({4'096}, 16));
  CHECK_FALSE(quantizes_gradient({3, 16}, 16));
}

}  // namespace shardlab
