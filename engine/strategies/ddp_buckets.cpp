#include "engine/strategies/ddp_buckets.h"

#include <algorithm>

namespace shardlab {

std::vector<Bucket> make_buckets(const ModelGraph& graph, const DdpSpec& spec) {
  std::vector<Bucket> buckets;
  bool open = false;
  for (std::size_t i = graph.parameters.size(); i-- > 0;) {
    if (!open) buckets.emplace_back();
    Bucket& bucket = buckets.back();
    bucket.parameters.push_back(make_id<ParameterId>(i));
    bucket.bytes += bytes_of(graph.parameters[i].elements(), graph.compute_dtype);
    open = bucket.bytes < (buckets.size() == 1 ? spec.first_bucket_size : spec.bucket_size);
  }
  return buckets;
}

std::vector<OperatorId> completing_operators(const ModelGraph& graph, const std::vector<Bucket>& buckets) {
  const auto unused = make_id<OperatorId>(graph.operators.size());
  std::vector<OperatorId> first_use(graph.parameters.size(), unused);
  for (std::size_t i = graph.operators.size(); i-- > 0;) {
    for (const ParameterId parameter : graph.operators[i].parameters) first_use[parameter.index()] = make_id<OperatorId>(i);
  }
  std::vector<OperatorId> completing;
  for (const Bucket& bucket : buckets) {
    OperatorId earliest = unused;
    for (const ParameterId parameter : bucket.parameters) earliest = std::min(earliest, first_use[parameter.index()]);
    completing.push_back(earliest);
  }
  return completing;
}

}  // namespace shardlab
