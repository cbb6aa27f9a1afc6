// What a GPU must hold beside the live tensors of a step, for predictions that do not model it.
#pragma once

#include "engine/base/units.h"

namespace shardlab {

// The sum of
//  - the CUDA context with lazily loaded kernels: 0.5 GiB. Measured: 0.27 to 0.60 GiB (pytorch pull request
//  86509;
//    stas00/ml-engineering, A100, torch 2.1; unsloth-zoo pull request 1053, torch 2.10 with CUDA 13.0);
//  - with more than one rank NCCL's buffers: 1.45 GiB, measured on two GPUs after the first collective
//    (stas00/ml-engineering, training/performance), of a range from 0.5 to 1.6 GiB a communicator
//    (NVIDIA/nccl issues 864, 964, 986);
//  - 9 % of the peak, by which the caching allocator's segments exceed what lives in them: in nine of ten
//  published
//    runs that print both they exceed it by less (SimuMax, Hugging Face; 2 to 9 %, 5 % in the median, without
//    the one that exceeds it by 31 %).
Bytes fit_margin(Bytes peak, int ranks);

}  // namespace shardlab
