// What predictions of communication on GPUs rest on, beside the figures of a GPU and a node: assets/network.
#pragma once

#include "engine/hardware/nccl_tuning.h"

namespace shardlab {

struct NetworkFigures {
  NcclTuning nccl;
};

}  // namespace shardlab
