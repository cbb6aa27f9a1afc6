// Which configuration is the best where a rank may use k_more_memory times what it may (other_hardware.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/search.h"

namespace shardlab {

struct ClusterSpec;  // engine/scenario/cluster_spec.h

// The settings that give a rank of the cluster so much, the first of them the key that says it. None on
// processors whose memory has no limit.
std::vector<std::string> settings_for_more_memory(const ClusterSpec& cluster);

struct BestWithMemory {
  std::optional<Candidate> best;  // with that memory; none: the leader's best stays the best
  std::size_t untried = 0;
};

// As on_other_hardware().
Result<BestWithMemory> best_with_memory(const SearchSpace& space, Evaluator& evaluator,
                                        const SearchResult& result, const Leader& leader, int threads);

}  // namespace shardlab
