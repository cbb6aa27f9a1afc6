// The matrix products of attention that has all its scores in memory, one for each sequence and head. Private
// to this folder.
#pragma once

#include <cstdint>

#include "engine/model/operators/attention_pairs.h"
#include "engine/model/operators/work.h"

namespace shardlab {

struct AttentionProducts {
  std::int64_t batch, heads, sequence, head_dim;
  std::int64_t window = 0;  // 0: none
  DType dtype = DType::float32;

  // Executed FLOPs are those of whole matrices; MFU counts the pairs that causality and the window leave.
  Work one(std::int64_t m, std::int64_t n, std::int64_t k) const {
    Work work = batched_matmul_work(batch * heads, m, n, k, dtype);
    work.model_flops = Flops{saturated_product(batch, heads, twice_the_pairs(sequence, window), head_dim)};
    return work;
  }
};

// Behind what forward and backward do besides.
inline void add_products(const AttentionProducts& products, OperatorDescription& description) {
  const std::int64_t s = products.sequence, d = products.head_dim;
  description.forward.push_back(products.one(s, s, d));   // of the scores
  description.forward.push_back(products.one(s, d, s));   // with v
  description.backward.push_back(products.one(s, d, s));  // of v
  description.backward.push_back(products.one(s, s, d));  // of the probabilities
  description.backward.push_back(products.one(d, s, s));  // of k
  description.backward.push_back(products.one(s, d, s));  // of q
}

}  // namespace shardlab
