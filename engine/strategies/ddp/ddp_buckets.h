// Which gradients DistributedDataParallel reduces together.
//
// Source: torch 2.11, nn/parallel/distributed.py (_ddp_init_helper) and csrc/distributed/c10d/reducer.cpp
// (rebuild_buckets, compute_bucket_assignment_by_size). Until the first synchronised backward is over there
// is one bucket of everything, because the order of gradients is not known; then buckets are rebuilt in the
// order in which gradients became ready: a bucket closes as soon as its bytes reach its limit,
// first_bucket_size for the first one and bucket_size for the others. Frozen parameters are in none.
//
// With find_unused_parameters the order may be another in every step: buckets are filled in the order of
// definition from the start, used from its end, and never rebuilt.
#pragma once

#include <vector>

#include "engine/model/model_graph.h"

namespace shardlab {

struct DdpSpec;

struct Bucket {
  std::vector<ParameterId> parameters;
  Bytes bytes;
  OperatorId completed_by;  // whose backward produces the last gradient
};

// Those of the first backward, and those of all steps once the order is known.
std::vector<Bucket> first_buckets(const ModelGraph& graph, const DdpSpec& spec);
std::vector<Bucket> steady_buckets(const ModelGraph& graph, const DdpSpec& spec);

}  // namespace shardlab
