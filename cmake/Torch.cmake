# libtorch from the pip wheel as imported targets of our own. The wheel's TorchConfig.cmake probes GPUs with the
# project's C++ standard, needs a CUDA toolkit and rewrites its flags; four paths are all that linking needs.
#
# In:  SHARDLAB_WITH_TORCH, SHARDLAB_WITH_CUDA (AUTO, ON, OFF), SHARDLAB_TORCH_DIR (.../site-packages/torch)
# Out: SHARDLAB_TORCH, SHARDLAB_CUDA (booleans), SHARDLAB_PYTHON (the wheel's interpreter, for tests of peers),
#      targets shardlab::torch_cpu and, with CUDA, shardlab::torch_cuda

# Where an interpreter would import torch from, without importing it (that takes seconds).
function(shardlab_torch_of_python python out)
  execute_process(COMMAND "${python}" -c
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
    OUTPUT_VARIABLE found ERROR_QUIET)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# SHARDLAB_PYTHON of the environment first, then the environments that ./run.sh makes, the newest first.
function(shardlab_guess_torch out)
  set(found)
  if(DEFINED ENV{SHARDLAB_PYTHON})
    shardlab_torch_of_python("$ENV{SHARDLAB_PYTHON}" found)
  endif()
  if(NOT found)
    set(cache "$ENV{XDG_CACHE_HOME}")
    if(NOT cache)
      set(cache "$ENV{HOME}/.cache")
    endif()
    file(GLOB candidates "${cache}/shardlab/py*/lib/python3*/site-packages/torch")
    list(SORT candidates ORDER DESCENDING)
    foreach(candidate IN LISTS candidates)
      if(EXISTS "${candidate}/lib/libtorch_cpu.so" AND NOT found)
        set(found "${candidate}")
      endif()
    endforeach()
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# The wheel ships headers of a newer fmt without its library. Our own headers must mean the same fmt in every
# target, so the distribution's comes first, alone in a folder of links.
function(shardlab_own_fmt_first out)
  find_path(SHARDLAB_FMT_INCLUDE fmt/core.h REQUIRED)
  mark_as_advanced(SHARDLAB_FMT_INCLUDE)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/fmt_first")
  file(CREATE_LINK "${SHARDLAB_FMT_INCLUDE}/fmt" "${PROJECT_BINARY_DIR}/fmt_first/fmt" SYMBOLIC)
  set(${out} "${PROJECT_BINARY_DIR}/fmt_first" PARENT_SCOPE)
endfunction()

function(shardlab_import_torch torch)
  shardlab_own_fmt_first(fmt_first)
  add_library(shardlab::torch_cpu INTERFACE IMPORTED GLOBAL)
  target_include_directories(shardlab::torch_cpu SYSTEM INTERFACE
    "${fmt_first}" "${torch}/include" "${torch}/include/torch/csrc/api/include")
  target_compile_definitions(shardlab::torch_cpu INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
  target_link_libraries(shardlab::torch_cpu INTERFACE "${torch}/lib/libtorch_cpu.so" "${torch}/lib/libc10.so")
endfunction()

# Everything CUDA comes from the wheel's own nvidia packages: neither nvcc nor a driver is needed to build.
function(shardlab_import_torch_cuda torch nvidia)
  add_library(shardlab::torch_cuda INTERFACE IMPORTED GLOBAL)
  target_include_directories(shardlab::torch_cuda SYSTEM INTERFACE "${nvidia}/cu13/include" "${nvidia}/nccl/include")
  # The linker would drop libtorch_cuda: nothing names a symbol of it, its constructors register the device.
  target_link_libraries(shardlab::torch_cuda INTERFACE shardlab::torch_cpu
    -Wl,--no-as-needed "${torch}/lib/libtorch_cuda.so" -Wl,--as-needed
    "${torch}/lib/libc10_cuda.so" "${nvidia}/cu13/lib/libcudart.so.13")
endfunction()

set(SHARDLAB_TORCH OFF)
set(SHARDLAB_CUDA OFF)
set(SHARDLAB_PYTHON)
if(NOT SHARDLAB_WITH_TORCH STREQUAL "OFF")
  if(NOT SHARDLAB_TORCH_DIR)
    shardlab_guess_torch(SHARDLAB_TORCH_GUESS)
    set(SHARDLAB_TORCH_DIR "${SHARDLAB_TORCH_GUESS}" CACHE PATH "site-packages/torch of the libtorch wheel" FORCE)
  endif()
  if(EXISTS "${SHARDLAB_TORCH_DIR}/lib/libtorch_cpu.so")
    set(SHARDLAB_TORCH ON)
    shardlab_import_torch("${SHARDLAB_TORCH_DIR}")
    get_filename_component(SHARDLAB_PYTHON "${SHARDLAB_TORCH_DIR}/../../../../bin/python3" ABSOLUTE)
  elseif(SHARDLAB_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "SHARDLAB_WITH_TORCH=ON, but there is no libtorch in '${SHARDLAB_TORCH_DIR}'. "
      "Run ./run.sh once, or set SHARDLAB_TORCH_DIR to .../site-packages/torch of torch 2.11.0.")
  endif()
endif()

if(SHARDLAB_TORCH AND NOT SHARDLAB_WITH_CUDA STREQUAL "OFF")
  get_filename_component(nvidia "${SHARDLAB_TORCH_DIR}/../nvidia" ABSOLUTE)
  if(EXISTS "${SHARDLAB_TORCH_DIR}/lib/libtorch_cuda.so" AND EXISTS "${nvidia}/nccl/include/nccl.h"
     AND EXISTS "${nvidia}/cu13/lib/libcudart.so.13")
    set(SHARDLAB_CUDA ON)
    shardlab_import_torch_cuda("${SHARDLAB_TORCH_DIR}" "${nvidia}")
  endif()
endif()
if(SHARDLAB_WITH_CUDA STREQUAL "ON" AND NOT SHARDLAB_CUDA)
  message(FATAL_ERROR "SHARDLAB_WITH_CUDA=ON needs SHARDLAB_WITH_TORCH and a CUDA build of torch 2.11.0 "
    "with its nvidia packages beside it; looked in '${SHARDLAB_TORCH_DIR}'.")
endif()
