// Row kernels of every instruction set this machine has, against the C++ library.
#include "engine/execute/torch/kernels/row_kernels.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.h"

namespace shardlab {
namespace {

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (int set = 0; set <= static_cast<int>(best_instruction_set()); ++set)
    sets.push_back(static_cast<InstructionSet>(set));
  return sets;
}

float bfloat16_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

bool is_nan(Float16 value) {
  return (value.bits & 0x7fffU) > 0x7c00U;
}

}  // namespace

TEST_CASE("exp is right to 2e-7 over its range") {
  for (const InstructionSet set : instruction_sets()) {
    double worst = 0;
    for (float x = -87; x <= 0; x += 0.0137f) {
      // One row of two scores: probability of the second is exp(x) / (1 + exp(x)); the correction of a step
      // is the exp itself.
      float score = 0, maximum = x, sum = 1, correction = 0, probability = 0;
      row_kernels<float>(set).softmax_step({&score, 1, 1, 1}, &maximum, &sum, &correction, &probability);
      worst =
          std::max(worst, std::abs(static_cast<double>(correction) / std::exp(static_cast<double>(x)) - 1));
    }
    CAPTURE(static_cast<int>(set));
    CHECK(worst < 2e-7);
  }
}

TEST_CASE("float32 rounds to bfloat16 as c10 does, for every upper half and ties") {
  for (const InstructionSet set : instruction_sets()) {
    std::int64_t wrong = 0;
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
      for (const std::uint32_t lower : {0x0000U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
        const auto value = std::bit_cast<float>(upper << 16 | lower);
        BFloat16 stored{};
        row_kernels<BFloat16>(set).store_row(&value, false, 1, &stored);
        const bool nan = std::isnan(value);
        wrong += nan ? !std::isnan(bfloat16_value(stored.bits)) : stored.bits != c10::BFloat16(value).x;
      }
    }
    CAPTURE(static_cast<int>(set));
    CHECK(wrong == 0);
  }
}

TEST_CASE("every bfloat16 loads as its float32") {
  for (const InstructionSet set : instruction_sets()) {
    std::vector<BFloat16> all;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) all.push_back({static_cast<std::uint16_t>(bits)});
    std::vector<float> sums(all.size(), 0.0f);
    row_kernels<BFloat16>(set).add_row(all.data(), static_cast<std::int64_t>(all.size()), sums.data());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float expected = bfloat16_value(all[i].bits);
      wrong += std::isnan(expected) ? !std::isnan(sums[i]) : sums[i] != expected;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("float32 rounds to float16 as c10 does, subnormal numbers, overflow and ties included") {
  for (const InstructionSet set : instruction_sets()) {
    std::int64_t wrong = 0;
    for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
      for (const std::uint32_t lower :
           {0x0000U, 0x0001U, 0x0fffU, 0x1000U, 0x1001U, 0x3000U, 0xefffU, 0xf000U, 0xffffU}) {
        const auto value = std::bit_cast<float>(upper << 16 | lower);
        Float16 stored{};
        row_kernels<Float16>(set).store_row(&value, false, 1, &stored);
        const c10::Half expected(value);
        wrong += std::isnan(value) ? !is_nan(stored) : stored.bits != expected.x;
      }
    }
    CAPTURE(static_cast<int>(set));
    CHECK(wrong == 0);
  }
}

TEST_CASE("every float16 loads as its float32") {
  for (const InstructionSet set : instruction_sets()) {
    std::vector<Float16> all;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) all.push_back({static_cast<std::uint16_t>(bits)});
    std::vector<float> sums(all.size(), 0.0f);
    row_kernels<Float16>(set).add_row(all.data(), static_cast<std::int64_t>(all.size()), sums.data());
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float expected = static_cast<float>(c10::Half(all[i].bits, c10::Half::from_bits()));
      wrong += std::isnan(expected) ? !std::isnan(sums[i]) : sums[i] != expected;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("instruction sets agree, and write nothing beyond the row") {
  const std::int64_t width = 45;
  std::vector<float> gate, up;
  for (std::int64_t i = 0; i < width; ++i) {
    gate.push_back(static_cast<float>(i) * 0.3f - 6);
    up.push_back(static_cast<float>(i % 5) - 2);
  }
  std::vector<float> expected(gate.size() + 16, 7);
  row_kernels<float>(InstructionSet::baseline).swiglu_forward(gate.data(), up.data(), width, expected.data());
  for (const InstructionSet set : instruction_sets()) {
    std::vector<float> result(gate.size() + 16, 7);
    row_kernels<float>(set).swiglu_forward(gate.data(), up.data(), width, result.data());
    for (std::size_t i = 0; i < result.size(); ++i) CHECK(result[i] == Approx(expected[i]).epsilon(1e-6));
    CHECK(result[gate.size()] == 7);
  }
}

TEST_CASE("the log-sum-exp of a row that holds NaN is NaN, wherever it stands") {
  for (const InstructionSet set : instruction_sets()) {
    for (std::size_t at = 0; at < 37; ++at) {
      std::vector<float> row(37, 1.0f);
      row[at] = std::numeric_limits<float>::quiet_NaN();
      float result = 0;
      row_kernels<float>(set).log_sum_exp(row.data(), 1, 37, &result);
      CHECK(std::isnan(result));
    }
  }
}

}  // namespace shardlab
