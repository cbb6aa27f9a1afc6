// Which gradients DistributedDataParallel reduces together.
//
// Source: torch 2.11, csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size over the reversed parameters with size
// limits {first_bucket_size, bucket_size}: a bucket closes as soon as its bytes reach its limit. This is the order of the first step;
// DDP rebuilds its buckets in the order of readiness after it.
#pragma once

#include <vector>

#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct Bucket {
  std::vector<ParameterId> parameters;
  Bytes bytes;
};

std::vector<Bucket> make_buckets(const ModelGraph& graph, const DdpSpec& spec);

// For each bucket, the operator whose backward completes it: the earliest (in forward order) first use of its parameters.
std::vector<OperatorId> completing_operators(const ModelGraph& graph, const std::vector<Bucket>& buckets);

}  // namespace shardlab
