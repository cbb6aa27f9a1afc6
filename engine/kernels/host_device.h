// What a host compiler and nvcc must agree on.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define SHARDLAB_HD __host__ __device__ inline
#else
#define SHARDLAB_HD inline
#endif
