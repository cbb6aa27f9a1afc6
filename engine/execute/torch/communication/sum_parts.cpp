#include "engine/execute/torch/communication/sum_parts.h"

#include <algorithm>
#include <array>
#include <vector>

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

namespace shardlab {

namespace {

constexpr std::int64_t k_block = 2048;  // fits the first-level cache with its sources

template <typename T>
void sum_blocks(T* result, const std::vector<const T*>& parts, std::int64_t elements, double scale) {
  using Sum = at::opmath_type<T>;
  std::array<Sum, k_block> sum;
  const auto factor = static_cast<Sum>(scale);
  for (std::int64_t begin = 0; begin < elements; begin += k_block) {
    const std::int64_t count = std::min(k_block, elements - begin);
    for (std::int64_t i = 0; i < count; ++i) sum[i] = static_cast<Sum>(parts[0][begin + i]);
    for (std::size_t part = 1; part < parts.size(); ++part) {
      const T* from = parts[part] + begin;
      for (std::int64_t i = 0; i < count; ++i) sum[i] += static_cast<Sum>(from[i]);
    }
    for (std::int64_t i = 0; i < count; ++i) result[begin + i] = static_cast<T>(sum[i] * factor);
  }
}

}  // namespace

void sum_parts(const at::Tensor& result, std::span<const at::Tensor> parts, double scale) {
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, result.scalar_type(), "sum_parts", [&] {
    std::vector<const scalar_t*> pointers;
    for (const at::Tensor& part : parts) pointers.push_back(part.const_data_ptr<scalar_t>());
    sum_blocks(result.mutable_data_ptr<scalar_t>(), pointers, result.numel(), scale);
  });
}

void max_parts(const at::Tensor& result, std::span<const at::Tensor> parts) {
  AT_DISPATCH_FLOATING_TYPES_AND3(at::kBFloat16, at::kHalf, at::kByte, result.scalar_type(), "max_parts",
                                  [&] {
                                    auto* to = result.mutable_data_ptr<scalar_t>();
                                    for (std::int64_t i = 0; i < result.numel(); ++i) {
                                      scalar_t largest = parts.front().const_data_ptr<scalar_t>()[i];
                                      for (const at::Tensor& part : parts)
                                        largest = std::max(largest, part.const_data_ptr<scalar_t>()[i]);
                                      to[i] = largest;
                                    }
                                  });
}

SentTotals sent_so_far(const Communicators& communicators) {
  SentTotals totals;
  for (const auto& [ranks, communicator] : communicators) {
    if (!communicator) continue;
    for (const auto& [kind, sent] : communicator->sent()) {
      Sent& total = totals[{kind, communicator->size()}];
      total.operations += sent.operations;
      total.bytes += sent.bytes;
    }
  }
  return totals;
}

std::vector<SentInStep> sent_between(const SentTotals& before, const SentTotals& after) {
  std::vector<SentInStep> sent;
  for (const auto& [key, total] : after) {
    const auto known = before.find(key);
    const Sent earlier = known == before.end() ? Sent{} : known->second;
    if (total.operations == earlier.operations) continue;
    sent.push_back(
        {key.first, key.second, total.operations - earlier.operations, total.bytes - earlier.bytes});
  }
  return sent;
}

}  // namespace shardlab
