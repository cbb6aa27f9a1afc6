// The row kernels for x86-64 processors with AVX2 and FMA (2013 and later).
#if defined(__x86_64__)
#pragma GCC target("avx2,fma")
#define SHARDLAB_ISA avx2
#define SHARDLAB_LANES 8
#include "engine/execute/torch/kernels/body/table.h"
#endif
