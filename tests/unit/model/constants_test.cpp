// Rotary tables: frequencies that are rounded with the buffer that holds them.
#include "engine/model/constants.h"

#include <cmath>

#include "tests/catch.h"

namespace shardlab::test {
namespace {

// The angle between positions 0 and 1, which is the frequency, of each pair.
std::vector<double> frequencies(DType dtype, double theta, std::int64_t pairs) {
  Tensor table;
  table.shape = {2, 2, pairs};
  table.attributes =
      with_frequency_dtype(rope_table_attributes(theta, RopeScaling::none, 1, 1, 4, 8192), dtype);
  std::vector<float> values(static_cast<std::size_t>(4 * pairs));
  fill_constant(table, values);
  std::vector<double> found;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const auto cosine = static_cast<std::size_t>(pairs + pair),
               sine = static_cast<std::size_t>(3 * pairs + pair);
    found.push_back(std::atan2(values[sine], values[cosine]));
  }
  return found;
}

}  // namespace

TEST_CASE("frequencies are rounded to the buffer's dtype") {
  // 1, 10000^-1/4, 10000^-1/2, 10000^-3/4 and the nearest bfloat16 and float16, as torch.tensor(x).to(dtype)
  // gives them.
  const std::vector<double> exact{1, 0.1, 0.01, 0.001},
      narrow{1, 0.10009765625, 0.010009765625, 0.00099945068359375},
      half{1, 0.0999755859375, 0.01000213623046875, 0.0010004043579101562};
  for (const auto& [dtype, expected] :
       {std::pair{DType::float32, exact}, {DType::bfloat16, narrow}, {DType::float16, half}}) {
    const std::vector<double> found = frequencies(dtype, 10000, 4);
    for (std::size_t i = 0; i < 4; ++i) {
      INFO(to_string(dtype) << " " << i);
      CHECK(found[i] == Approx(expected[i]).epsilon(2e-6));
    }
  }
}

TEST_CASE("a table in float32 has no attribute of its own, so that graphs keep their hash") {
  const Attributes plain = rope_table_attributes(10000, RopeScaling::none, 1, 1, 4, 8192);
  CHECK(with_frequency_dtype(plain, DType::float32).values() == plain.values());
  CHECK(with_frequency_dtype(plain, DType::bfloat16).values().size() == plain.values().size() + 1);
}

TEST_CASE("a causal mask hides later keys from every query of every sequence") {
  Tensor mask;
  mask.shape = {2, 1, 3, 3};
  mask.attributes = causal_mask_attributes();
  std::vector<float> values(18);
  fill_constant(mask, values);
  const std::vector<float> one{0, 1, 1, 0, 0, 1, 0, 0, 0};
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == one[i % 9]);
}

TEST_CASE("a mask that is added hides later keys, and those before the window") {
  Tensor mask;
  mask.shape = {2, 1, 3, 3};
  mask.dtype = DType::float16;
  const float low = -65504;
  for (const auto& [window, one] : {std::pair{0, std::vector<float>{0, low, low, 0, 0, low, 0, 0, 0}},
                                    {2, {0, low, low, 0, 0, low, low, 0, 0}}}) {
    mask.attributes = added_mask_attributes(window);
    std::vector<float> values(18);
    fill_constant(mask, values);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == one[i % 9]);
  }
}

TEST_CASE("a mask of what is seen ends where the window begins") {
  Tensor mask;
  mask.shape = {1, 1, 3, 3};
  mask.dtype = DType::uint8;
  mask.attributes = seen_mask_attributes(2);
  std::vector<float> values(9);
  fill_constant(mask, values);
  CHECK(values == std::vector<float>{1, 0, 0, 1, 1, 0, 0, 1, 1});
}

// Falcon's alibi is by key: what a query may not see has the lowest number that the dtype holds.
TEST_CASE("alibi as whole matrices repeats the table of keys and hides later ones") {
  for (const auto& [dtype, lowest] : {std::pair{DType::float32, -3.4028234663852886e38},
                                      {DType::bfloat16, -3.3895313892515355e38},
                                      {DType::float16, -65504.0}}) {
    Tensor table, whole;
    table.shape = {3, 5};
    table.attributes = falcon_alibi_attributes(0.25);
    whole.shape = {2, 3, 5, 5};
    whole.dtype = dtype;
    whole.attributes = with_whole_matrices(table.attributes);
    std::vector<float> by_key(15), values(150);
    fill_constant(table, by_key);
    fill_constant(whole, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t key = i % 5, query = i / 5 % 5, head = i / 25 % 3;
      CHECK(values[i] == (key > query ? static_cast<float>(lowest) : by_key[head * 5 + key]));
    }
  }
}

}  // namespace shardlab::test
