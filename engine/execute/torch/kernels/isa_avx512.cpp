// The row kernels for x86-64 processors with AVX-512 F, BW, VL and DQ (servers since 2017).
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
#define SHARDLAB_ISA avx512
#define SHARDLAB_LANES 16
#include "engine/execute/torch/kernels/body/table.h"
#endif
