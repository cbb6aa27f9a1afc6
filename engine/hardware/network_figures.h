// What predictions of communication on GPUs rest on, beside the figures of a GPU and a node: assets/network.
#pragma once

#include <array>

#include "engine/base/units.h"
#include "engine/hardware/description.h"
#include "engine/hardware/nccl_tuning.h"

namespace shardlab {

// assets/network/collectives.yaml, which says what each figure is; simulator/network says how they go
// together.
struct CollectiveFigures {
  using ByGeneration = std::array<double, k_nccl_generations>;
  ByGeneration launch_us{};
  double ring_efficiency = 1, ring_fill_us = 0;
  ByGeneration nvls_efficiency{}, nvls_fill_us{};  // 0 where there is no NVLS
  double doubling_us = 0;
  Bytes doubling_from;
  double all_to_all_efficiency = 1, peer_us = 0;
  double memory_passes = 0, overlap_loss = 0;
  double most_channels = 1;  // of a GPU's multiprocessors
  FigureSources provenance;
};

struct NetworkFigures {
  NcclTuning nccl;
  CollectiveFigures collectives;
};

// Errors: a file that is missing or malformed.
Result<NetworkFigures> read_network_figures();

}  // namespace shardlab
