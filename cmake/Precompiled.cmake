# Precompiled headers: what nearly every source includes from the standard library and fmt, parsed once instead of in every file
# (1.5 of the 3 seconds that a small file takes). Three of them, because each reuses one set of flags:
#
#   shardlab_pch         our own code without libtorch
#   shardlab_test_pch    the same and Catch2
#   shardlab_torch_pch   the same and ATen (cmake/TorchExecutor.cmake); shardlab_torch_test_pch with Catch2
#
# A source still includes what it uses: SHARDLAB_PRECOMPILED=OFF builds without them and shows what is missing.
option(SHARDLAB_PRECOMPILED "Precompiled headers for our own code" ON)

set(SHARDLAB_COMMON_HEADERS
  <algorithm> <array> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <utility>
  <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

# shardlab_precompiled(<name> HEADERS <header>... LIBRARIES <lib>...): a target whose precompiled header others reuse.
function(shardlab_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBRARIES" ${ARGN})
  set(source "${PROJECT_BINARY_DIR}/generated/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Carries the precompiled header of ${name}.\n" @ONLY)
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} shardlab::warnings)
  if(SHARDLAB_PRECOMPILED)
    target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  endif()
endfunction()

# shardlab_reuse_precompiled(<target> <name>)
function(shardlab_reuse_precompiled target name)
  if(SHARDLAB_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

shardlab_precompiled(shardlab_pch HEADERS ${SHARDLAB_COMMON_HEADERS}
  LIBRARIES shardlab::fmt shardlab::expected shardlab::spdlog shardlab::xxhash Threads::Threads)
