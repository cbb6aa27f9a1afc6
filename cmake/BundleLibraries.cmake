# Run at installation (component libraries): copies what the programs load into lib/shardlab, where they look first.
#
# Left to the machine: glibc and the compiler's runtime, which must not be older than where this was built and must not be younger than
# what graphics drivers expect; OpenGL, the display and the GPU's driver; libtorch and CUDA, which are larger than everything else together.
set(of_the_machine
  "^ld-linux" "^lib(c|m|dl|rt|util|pthread|resolv)\\.so" "^lib(stdc\\+\\+|gcc_s|gomp)[.-]" "^lib(GL|EGL|OpenGL|X|xcb|wayland|drm)"
  "^lib(torch|c10|cuda|cudart|cublas|cudnn|nccl|nv)")

set(programs)
foreach(name shardlab shardlab-gui shardlab-rank shardlab-rank-cuda)
  if(EXISTS "${shardlab_programs}/${name}")
    list(APPEND programs "${shardlab_programs}/${name}")
  endif()
endforeach()
if(programs)
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} RESOLVED_DEPENDENCIES_VAR libraries PRE_EXCLUDE_REGEXES ${of_the_machine})
  file(INSTALL ${libraries} DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/shardlab" FOLLOW_SYMLINK_CHAIN)
endif()
