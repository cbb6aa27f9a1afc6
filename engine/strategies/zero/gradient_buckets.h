// How the stages of ZeRO group gradients for their reduction.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py: a gradient that does not fit into what is left of
// the bucket has the bucket reduced first (reduce_independent_p_g_buckets_and_remove_grads); one that is
// larger than the bucket is reduced alone, where it lies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/layout.h"

namespace shardlab {

// Elements of a bucket that are sent at once.
struct SentTogether {
  std::int64_t first = 0, elements = 0;
  int slices = 0;  // runs of elements that belong to one rank; more than one are copied together
};

struct GradientBucket {
  std::vector<ParameterId> parameters;  // in the order in which they are copied into it
  std::int64_t elements = 0;
  bool oversized = false;  // one gradient, larger than a bucket
  // One, or, of a gradient that several ranks own and that is larger than a bucket, several: slices are added
  // until they are more than a bucket (allreduce_and_scatter).
  std::vector<SentTogether> sent;
  // What one rank owns of one gradient is a piece.
  int pieces = 0;
  std::int64_t largest_piece = 0;  // elements
};

// Parameters in the order in which their gradients are taken, at most `limit` elements a bucket.
// `partition`: the flat vector of all trained parameters, of which each rank owns one part.
std::vector<GradientBucket> gradient_buckets(const ModelGraph& graph, std::span<const ParameterId> order,
                                             std::int64_t limit, const ParameterLayout& partition);

// What of a bucket one rank owns.
struct SentToOwner {
  int owner = 0;
  std::vector<ParameterId> parameters;   // of which it owns something, in the order of the flat vector
  std::int64_t first = 0, elements = 0;  // of these, one after the other: it owns a range
};

// What average_tensor sends where use_multi_rank_bucket_allreduce is off: the owners of a bucket's elements
// in the order in which they come first.
std::vector<SentToOwner> sent_to_owners(const GradientBucket& bucket, const ParameterLayout& partition);

// Most elements that the whole parameters take of which one rank owns a part: DeepSpeed keeps their whole
// gradients (copy_grads_in_partition), whatever part of them the rank needs.
std::int64_t most_touched_elements(const ParameterLayout& partition);

}  // namespace shardlab
