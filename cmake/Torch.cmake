# libtorch from the pip wheel as imported targets of our own. The wheel's TorchConfig.cmake probes GPUs with the
# project's C++ standard, needs a CUDA toolkit and rewrites its flags; four paths are all that linking needs.
#
# In:  SHARDLAB_WITH_TORCH, SHARDLAB_WITH_CUDA (AUTO, ON, OFF), SHARDLAB_TORCH_DIR (.../site-packages/torch)
# Out: SHARDLAB_TORCH, SHARDLAB_CUDA (booleans), SHARDLAB_PYTHON (the wheel's interpreter, for tests of peers),
#      SHARDLAB_TORCH_VERSION, SHARDLAB_TORCH_RPATH (for programs that pip installs beside torch),
#      targets shardlab::torch_cpu and, with CUDA, shardlab::torch_cuda
file(STRINGS "${PROJECT_SOURCE_DIR}/scripts/python_env.sh" SHARDLAB_TORCH_VERSION REGEX "^torch_version=")
string(REPLACE "torch_version=" "" SHARDLAB_TORCH_VERSION "${SHARDLAB_TORCH_VERSION}")

# Where an interpreter would import torch from, without importing it (that takes seconds).
function(shardlab_torch_of_python out)
  execute_process(COMMAND ${ARGN} -c
    "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
    OUTPUT_VARIABLE found ERROR_QUIET)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Whether a torch is of the version that we are made for: with another, programs would crash or compute something else.
function(shardlab_torch_version_fits torch out)
  set(version "${SHARDLAB_TORCH_VERSION}")  # libtorch alone comes without version.py
  if(EXISTS "${torch}/version.py")
    file(STRINGS "${torch}/version.py" line REGEX "^__version__ = ")
    string(REGEX REPLACE "^__version__ = '([^+']*).*" "\\1" version "${line}")
  endif()
  set(${out} OFF PARENT_SCOPE)
  if(version STREQUAL SHARDLAB_TORCH_VERSION)
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

# While pip builds (SKBUILD), it hides the environment's own packages by these two variables.
set(shardlab_pip_python ${CMAKE_COMMAND} -E env --unset=PYTHONPATH --unset=PYTHONNOUSERSITE "${Python_EXECUTABLE}")

# pip's environment or SHARDLAB_PYTHON of the environment first, then the environments that ./run.sh makes, the newest first.
function(shardlab_guess_torch out)
  set(found)
  if(SKBUILD)
    shardlab_torch_of_python(found ${shardlab_pip_python})
  elseif(DEFINED ENV{SHARDLAB_PYTHON})
    shardlab_torch_of_python(found "$ENV{SHARDLAB_PYTHON}")
  endif()
  if(NOT found AND NOT SKBUILD)
    set(cache "$ENV{XDG_CACHE_HOME}")
    if(NOT cache)
      set(cache "$ENV{HOME}/.cache")
    endif()
    file(GLOB candidates "${cache}/shardlab/py*/lib/python3*/site-packages/torch")
    list(SORT candidates ORDER DESCENDING)
    foreach(candidate IN LISTS candidates)
      shardlab_torch_version_fits("${candidate}" fits)
      if(EXISTS "${candidate}/lib/libtorch_cpu.so" AND fits AND NOT found)
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

# Two folders of CUDA's headers, crt and nv, which the wheel's headers include and its nvidia packages leave to the toolkit. Found where
# the compiler looks by itself, they need no option.
function(shardlab_find_cuda_headers)
  find_path(SHARDLAB_CUDA_HEADERS nv/target PATHS ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES include)
  mark_as_advanced(SHARDLAB_CUDA_HEADERS)
  if(NOT EXISTS "${SHARDLAB_CUDA_HEADERS}/crt/host_defines.h")
    message(STATUS "No CUDA toolkit (nv/target, crt/host_defines.h): the ranks' program for GPUs is not built. Set CUDA_HOME, or install nvcc's "
      "headers to /usr/local/cuda.")
    set(SHARDLAB_CUDA_HEADERS "" PARENT_SCOPE)
  endif()
endfunction()

# All else comes from the wheel's nvidia packages. No driver is needed to build.
function(shardlab_import_torch_cuda torch nvidia)
  add_library(shardlab::torch_cuda INTERFACE IMPORTED GLOBAL)
  target_include_directories(shardlab::torch_cuda SYSTEM INTERFACE "${nvidia}/cu13/include" "${nvidia}/nccl/include")
  list(FIND CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES "${SHARDLAB_CUDA_HEADERS}" found_by_itself)
  if(found_by_itself EQUAL -1)
    # The two alone in a folder of links: the toolkit's other headers may be of another version than the wheel's.
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/cuda_headers")
    foreach(folder crt nv)
      file(CREATE_LINK "${SHARDLAB_CUDA_HEADERS}/${folder}" "${PROJECT_BINARY_DIR}/cuda_headers/${folder}" SYMBOLIC)
    endforeach()
    target_include_directories(shardlab::torch_cuda SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/cuda_headers")
  endif()
  # The linker would drop libtorch_cuda: nothing names a symbol of it, its constructors register the device.
  target_link_libraries(shardlab::torch_cuda INTERFACE shardlab::torch_cpu
    -Wl,--no-as-needed "${torch}/lib/libtorch_cuda.so" -Wl,--as-needed
    "${torch}/lib/libc10_cuda.so" "${nvidia}/cu13/lib/libcudart.so.13")
endfunction()

# pip may install what it built into another environment: from bin/, torch lies there as it does here.
function(shardlab_rpath_of_pip out)
  execute_process(COMMAND ${shardlab_pip_python} -c
    "import os, sysconfig as s; print(os.path.relpath(s.get_path('platlib'), s.get_path('scripts')), end='')"
    OUTPUT_VARIABLE packages ERROR_QUIET)
  set(${out} "$ORIGIN/${packages}/torch/lib" "$ORIGIN/${packages}/nvidia/cu13/lib" PARENT_SCOPE)
endfunction()

set(SHARDLAB_TORCH OFF)
set(SHARDLAB_CUDA OFF)
set(SHARDLAB_TORCH_RPATH)
set(SHARDLAB_PYTHON)
if(NOT SHARDLAB_WITH_TORCH STREQUAL "OFF")
  if(NOT SHARDLAB_TORCH_DIR)
    shardlab_guess_torch(SHARDLAB_TORCH_GUESS)
    if(SKBUILD)  # the next environment that is installed into has another
      set(SHARDLAB_TORCH_DIR "${SHARDLAB_TORCH_GUESS}")
    else()
      set(SHARDLAB_TORCH_DIR "${SHARDLAB_TORCH_GUESS}" CACHE PATH "site-packages/torch of the libtorch wheel" FORCE)
    endif()
  endif()
  if(EXISTS "${SHARDLAB_TORCH_DIR}/lib/libtorch_cpu.so")
    shardlab_torch_version_fits("${SHARDLAB_TORCH_DIR}" fits)
    if(NOT fits)
      message(FATAL_ERROR "The torch in '${SHARDLAB_TORCH_DIR}' is not ${SHARDLAB_TORCH_VERSION}, which this version of shardlab is made "
        "for. pip install torch==${SHARDLAB_TORCH_VERSION}, or set SHARDLAB_TORCH_DIR to its folder.")
    endif()
    set(SHARDLAB_TORCH ON)
    if(SKBUILD)
      shardlab_rpath_of_pip(SHARDLAB_TORCH_RPATH)
    endif()
    shardlab_import_torch("${SHARDLAB_TORCH_DIR}")
    get_filename_component(SHARDLAB_PYTHON "${SHARDLAB_TORCH_DIR}/../../../../bin/python3" ABSOLUTE)
  elseif(SKBUILD AND SHARDLAB_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "This Python environment has no torch, which the programs are built against: "
      "pip install torch==${SHARDLAB_TORCH_VERSION} first.")
  elseif(SHARDLAB_WITH_TORCH STREQUAL "ON")
    message(FATAL_ERROR "SHARDLAB_WITH_TORCH=ON, but there is no libtorch in '${SHARDLAB_TORCH_DIR}'. "
      "Run ./run.sh once, or pip install torch==${SHARDLAB_TORCH_VERSION} and set SHARDLAB_TORCH_DIR to its folder.")
  endif()
endif()

if(SHARDLAB_TORCH AND NOT SHARDLAB_WITH_CUDA STREQUAL "OFF")
  get_filename_component(nvidia "${SHARDLAB_TORCH_DIR}/../nvidia" ABSOLUTE)
  if(EXISTS "${SHARDLAB_TORCH_DIR}/lib/libtorch_cuda.so" AND EXISTS "${nvidia}/nccl/include/nccl.h"
     AND EXISTS "${nvidia}/cu13/lib/libcudart.so.13")
    shardlab_find_cuda_headers()
  endif()
  if(SHARDLAB_CUDA_HEADERS)
    set(SHARDLAB_CUDA ON)
    shardlab_import_torch_cuda("${SHARDLAB_TORCH_DIR}" "${nvidia}")
  endif()
endif()
if(SHARDLAB_WITH_CUDA STREQUAL "ON" AND NOT SHARDLAB_CUDA)
  message(FATAL_ERROR "SHARDLAB_WITH_CUDA=ON needs SHARDLAB_WITH_TORCH and a CUDA build of torch 2.11.0 "
    "with its nvidia packages beside it, in '${SHARDLAB_TORCH_DIR}', and the headers of a CUDA 13 toolkit.")
endif()
