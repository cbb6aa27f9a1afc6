// What ranks runs without predicting them: an order of their settings, and a roofline of a few lines.
#pragma once

#include <array>
#include <optional>

#include "simulator/backtest/published_table.h"

namespace shardlab {

// The smaller, the better: offload, no float8, not compiled, checkpointing, a small micro-batch, GPUs, few
// micro-batches, the first that differs.
std::array<double, 7> settings_order(const PublishedRun& run);

// Tokens a second and GPU: 6 floating-point operations a parameter and 6 L h s for attention, a third more
// where all is computed again and a sixth where some is, at half the peak, of 500 tokens more than there are
// (what a kernel's start costs); parameters and gradients on the wires in 16 bits, with 1 us for every rank
// of three collectives a layer; 16 bytes a parameter for the update; nothing overlaps. Nothing where the GPU
// is not known.
std::optional<double> crude_rate(const PublishedRun& run);

}  // namespace shardlab
