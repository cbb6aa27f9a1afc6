// The job of probes: meet, measure, write the results, end.
#pragma once

#include <filesystem>

#include "engine/execute/torch/rank_place.h"

namespace shardlab {

// Results go into probe_results_path() in `folder` as they are measured, what this rank is into the spool.
// Collectives are measured among all ranks. Fails as run_probes() does, and with run_failed when results
// cannot be written.
Status probe_rank(const RankPlace& place, const std::filesystem::path& folder, SpoolWriter& spool);

}  // namespace shardlab
