# Warnings for our own sources only: libraries' headers come in as SYSTEM and stay silent.
add_library(shardlab_warnings INTERFACE)
add_library(shardlab::warnings ALIAS shardlab_warnings)

target_compile_options(shardlab_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2
  -Wfloat-conversion)  # time is integer nanoseconds: a silent cut of a double is a bug
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(shardlab_warnings INTERFACE -Wduplicated-cond -Wlogical-op)
endif()

if(SHARDLAB_WERROR)
  target_compile_options(shardlab_warnings INTERFACE -Werror)
  # What depends on the optimiser's view of a function differs between compiler versions and is often wrong
  # (g++ 12 on std::string and std::optional): shown, but no error.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(shardlab_warnings INTERFACE -Wno-restrict
      -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
      -Wno-error=stringop-overread -Wno-error=free-nonheap-object)
  endif()
endif()
