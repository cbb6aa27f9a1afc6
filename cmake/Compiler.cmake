# Language, build type, sanitizers, compiler cache. Included before any target exists.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
# Line tables are enough for backtraces and profiles, and keep objects small; Debug has everything. Who builds once (cmake/Unity.cmake)
# profiles nothing: without them compiling takes a tenth less.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
if(SHARDLAB_UNITY)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2")
endif()

if(SHARDLAB_SANITIZE)
  if(SHARDLAB_SANITIZE MATCHES "thread" AND SHARDLAB_SANITIZE MATCHES "address|leak")
    message(FATAL_ERROR "SHARDLAB_SANITIZE=${SHARDLAB_SANITIZE}: thread cannot be combined with address or leak")
  endif()
  string(REPLACE ";" "," sanitizers "${SHARDLAB_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${sanitizers})
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")  # the checks dominate; compiling takes a third less
endif()

# What libFuzzer needs to see which branches an input took; only the program of tests/fuzz links its main function.
option(SHARDLAB_FUZZ "Build for tests/fuzz: clang's libFuzzer with the address and undefined sanitizers" OFF)
if(SHARDLAB_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SHARDLAB_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  if(SHARDLAB_SANITIZE)
    message(FATAL_ERROR "SHARDLAB_FUZZ brings its own sanitizers: leave SHARDLAB_SANITIZE empty")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
endif()

option(SHARDLAB_CCACHE "Compile through ccache where it is installed" ON)
find_program(SHARDLAB_CCACHE_PROGRAM ccache)
mark_as_advanced(SHARDLAB_CCACHE_PROGRAM)
if(SHARDLAB_CCACHE AND SHARDLAB_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source folder count as relative, so a second checkout hits too; the sloppiness is what
  # ccache asks for to cache sources that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" ${SHARDLAB_CCACHE_PROGRAM})
endif()
