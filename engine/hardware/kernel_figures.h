// Figures of GPU kernels that hold on every GPU: assets/hardware/kernels.
#pragma once

#include <map>
#include <string>

#include "engine/base/result.h"
#include "engine/hardware/description.h"

namespace shardlab {

// Into what tiles libraries cut matrix products, a multiprocessor each.
struct TileFigures {
  int rows = 0, columns = 0;  // of a large tile, either way round
  int small = 0;              // the side of a small one
  double small_speed = 1;     // its share of the rate with large ones
  double idle_tail = 0;       // the share that counts of what a last wave leaves idle
};

// Products by torch 2.11's libraries on Hopper, relative to the figures of gpus/*.yaml.
struct HopperFigures {
  double products = 1;   // the rate
  double most = 1;       // share of the data sheet's rate that none exceeds
  double unaligned = 1;  // share of the rate where rows are no multiple of 16 bytes
};

// Kernels for attention relative to flash attention 2 with heads of 128, forward and backward together.
struct AttentionFigures {
  double narrow = 1;        // share of the rate with heads of 64
  double forward = 1;       // rate of forward over that of backward
  double flash3 = 1;        // rate of flash attention 3
  double cudnn = 1;         // of cuDNN's on Hopper
  double efficient = 1;     // of CUTLASS' memory-efficient kernel, which torch takes for masks elsewhere
  double cudnn_masked = 1;  // with a mask, of cuDNN's without one
};

// Speeds of PyTorch's memory-bound operators by their names, relative to a copy of the bytes that their
// descriptions count.
struct OperatorSpeeds {
  using ByName = std::map<std::string, double, std::less<>>;
  ByName forward, backward;                  // of 16-bit elements
  ByName forward_float32, backward_float32;  // of float32, where it differs
  double others = 1;                         // of what has none
};

struct KernelFigures {
  TileFigures tiles;
  HopperFigures hopper;
  AttentionFigures attention;
  OperatorSpeeds operators;
  FigureSources provenance;  // by "tiles.idle_tail" and the like
};

// Errors: a file that is missing or malformed.
Result<KernelFigures> read_kernel_figures();

}  // namespace shardlab
