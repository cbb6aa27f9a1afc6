// What the headers of torch's libc10_cuda say of CUDA 13's driver interface: no CUDA toolkit is needed.
#pragma once

#define CUDA_VERSION 13000
