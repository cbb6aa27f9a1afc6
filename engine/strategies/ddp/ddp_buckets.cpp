#include "engine/strategies/ddp/ddp_buckets.h"

#include <algorithm>

#include "engine/scenario/parallel_spec.h"
#include "engine/strategies/gradient_order.h"

namespace shardlab {
namespace {

void append(Bucket& bucket, const ModelGraph& graph, ParameterId parameter, OperatorId ready) {
  bucket.completed_by = bucket.parameters.empty() ? ready : std::min(bucket.completed_by, ready);
  bucket.parameters.push_back(parameter);
  bucket.bytes += bytes_of(graph.parameter(parameter).elements(), graph.compute_dtype);
}

// DistributedDataParallel takes 1 MiB for the first bucket only where bucket_cap_mb is not given.
Bytes first_limit(const DdpSpec& spec) {
  if (spec.first_bucket_size) return *spec.first_bucket_size;
  return spec.bucket_size == DdpSpec{}.bucket_size ? mebibytes(1) : spec.bucket_size;
}

// A bucket closes as soon as its bytes reach its limit.
std::vector<Bucket> filled(const ModelGraph& graph, const DdpSpec& spec,
                           const std::vector<ParameterId>& parameters) {
  const std::vector<OperatorId> ready = completing_operators(graph);
  std::vector<Bucket> buckets;
  bool open = false;
  for (const ParameterId parameter : parameters) {
    if (!open) buckets.emplace_back();
    append(buckets.back(), graph, parameter, ready[parameter.index()]);
    open = buckets.back().bytes < (buckets.size() == 1 ? first_limit(spec) : spec.bucket_size);
  }
  return buckets;
}

std::vector<Bucket> in_order_of_definition(const ModelGraph& graph, const DdpSpec& spec) {
  std::vector<Bucket> buckets = filled(graph, spec, parameters_with_gradients(graph));
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

}  // namespace

std::vector<Bucket> first_buckets(const ModelGraph& graph, const DdpSpec& spec) {
  if (spec.find_unused_parameters) return in_order_of_definition(graph, spec);
  const std::vector<OperatorId> ready = completing_operators(graph);
  std::vector<Bucket> buckets(1);
  for (const ParameterId id : parameters_with_gradients(graph))
    append(buckets[0], graph, id, ready[id.index()]);
  return buckets;
}

std::vector<Bucket> steady_buckets(const ModelGraph& graph, const DdpSpec& spec) {
  return spec.find_unused_parameters ? in_order_of_definition(graph, spec)
                                     : filled(graph, spec, arrival_order(graph));
}

}  // namespace shardlab
