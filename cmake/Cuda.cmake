# Our own kernels (.cu). They need nvcc and nothing else: no driver, no GPU, no libtorch.
#
# In:  SHARDLAB_BUILD_KERNELS (AUTO, ON, OFF)
# Out: SHARDLAB_KERNELS (boolean); with it the language CUDA is enabled
set(SHARDLAB_KERNELS OFF)
if(NOT SHARDLAB_BUILD_KERNELS STREQUAL "OFF")
  find_program(SHARDLAB_NVCC nvcc HINTS /usr/local/cuda/bin)
  if(SHARDLAB_NVCC AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${SHARDLAB_NVCC}")
  endif()
  # Turing, Ampere (and Ada with it), Hopper, Blackwell of data centres, of Jetson Thor and of workstations; later ones compile from the
  # last one's PTX. Without an image for a device our kernels fail there although ATen's run.
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 90-real 100-real 110-real 120)
  endif()
  if(SHARDLAB_NVCC)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)  # CMake 3.25 knows no flag of nvcc for C++20
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(SHARDLAB_KERNELS ON)
  elseif(SHARDLAB_BUILD_KERNELS STREQUAL "ON")
    message(FATAL_ERROR "SHARDLAB_BUILD_KERNELS=ON needs nvcc of CUDA 13, on the PATH or in /usr/local/cuda/bin")
  endif()
endif()
