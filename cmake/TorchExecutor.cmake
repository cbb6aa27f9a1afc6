# Included by engine/CMakeLists.txt when libtorch is there: the real executor.
#
# ATen's headers cost 15 s once instead of 6 s in every file. Never torch/torch.h, which is twice that.
set(torch_headers <ATen/ATen.h> <torch/csrc/autograd/autograd.h> <torch/csrc/autograd/variable.h> ${SHARDLAB_COMMON_HEADERS})
shardlab_precompiled(shardlab_torch_pch HEADERS ${torch_headers} LIBRARIES shardlab::torch_cpu shardlab_base)
shardlab_library(shardlab_real PRECOMPILED shardlab_torch_pch FOLDERS execute/torch
  EXCLUDE execute/torch/rank_main.cpp execute/torch/cuda/ execute/torch/no_cuda/ APART execute/torch/kernels execute/torch/operators
  DEPENDS shardlab_execute shardlab_checkpoint shardlab::torch_cpu)
# Declarations that c10d's Gloo header includes and the wheel does not ship.
target_include_directories(shardlab_real PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/execute/torch/gloo_shim")

# GPUs, and their absence: the rank's program links one of the two.
shardlab_library(shardlab_real_no_cuda PRECOMPILED shardlab_torch_pch FOLDERS execute/torch/no_cuda DEPENDS shardlab_real)
if(SHARDLAB_CUDA)
  set(without_kernels execute/torch/cuda/operators/)
  if(SHARDLAB_KERNELS)
    set(without_kernels execute/torch/cuda/no_kernels/)
  endif()
  shardlab_library(shardlab_real_cuda PRECOMPILED shardlab_torch_pch FOLDERS execute/torch/cuda EXCLUDE ${without_kernels}
    DEPENDS shardlab_real shardlab::torch_cuda)
  if(SHARDLAB_KERNELS)
    target_link_libraries(shardlab_real_cuda PRIVATE shardlab_cuda_kernels)
  endif()
endif()
