// Refuses settings with which DeepSpeed's swapping of a ZeRO-3 optimizer fails.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Fewer staging buffers than an update needs: bad_input with the number that is enough. DeepSpeed 0.19.8 ends
// with "ran out of swap buffers, try increasing 'buffer_count'", or an assertion without words.
Status check_staging_buffers(const Scenario& scenario, const ModelGraph& graph);

}  // namespace shardlab
