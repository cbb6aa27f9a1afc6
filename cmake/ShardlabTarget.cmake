# Helpers that turn a folder into a target. A folder is one library; its sources are found, not listed.

# shardlab_sources(<out> FOLDERS <dir>... [EXCLUDE <prefix>...])
# Every .cpp below the folders, which may not exist yet, except those whose path starts with one of the prefixes;
# all paths are relative to the list file that calls.
function(shardlab_sources out)
  cmake_parse_arguments(ARG "" "" "FOLDERS;EXCLUDE" ${ARGN})
  set(sources)
  foreach(folder IN LISTS ARG_FOLDERS)
    get_filename_component(folder "${folder}" ABSOLUTE)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${folder}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  foreach(prefix IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${prefix}")
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# For what works once in a command, and for tests: compiling takes two thirds of the time. g++ guesses what is not initialized at this
# level; other compilers do not know the warning.
set(SHARDLAB_LIGHT_OPTIONS $<$<CONFIG:RelWithDebInfo>:-Og>
  $<$<AND:$<CONFIG:RelWithDebInfo>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)

# shardlab_optimize_lightly(<target>...)
function(shardlab_optimize_lightly)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${SHARDLAB_LIGHT_OPTIONS})
  endforeach()
endfunction()

# shardlab_library(<name> FOLDERS <dir>... [EXCLUDE <prefix>...] [DEPENDS <lib>...] [PRIVATE <lib>...] [PRECOMPILED <target>]
#                  [TOGETHER <dir>...] [APART <dir>...])
# A static library of the folders' sources; DEPENDS are passed on to whoever links it, PRIVATE are not; PRECOMPILED is the
# target whose precompiled header it reuses (cmake/Precompiled.cmake), TOGETHER and APART as in cmake/Unity.cmake.
# Without a source it is an INTERFACE library, so a folder of headers (or an empty one) works too.
function(shardlab_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "FOLDERS;EXCLUDE;DEPENDS;PRIVATE;TOGETHER;APART" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED shardlab_pch)
  endif()
  shardlab_sources(sources FOLDERS ${ARG_FOLDERS} EXCLUDE ${ARG_EXCLUDE})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE} shardlab::warnings)
    shardlab_reuse_precompiled(${name} ${ARG_PRECOMPILED})
    shardlab_unity(${name} TOGETHER ${ARG_TOGETHER} APART ${ARG_APART} SOURCES ${sources})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
  endif()
endfunction()

# shardlab_executable(<name> MAIN <file> COMPONENT <component> [DEPENDS <lib>...])
# A program in <build>/bin, and, where it was built, of a component of the installation (cmake/Packages.cmake). Says so and makes no
# target when the file does not exist. Installed it looks for libraries in lib/shardlab beside bin/, which may be moved, then in torch
# beside it where pip installs, then where it was linked.
function(shardlab_executable name)
  cmake_parse_arguments(ARG "" "MAIN;COMPONENT" "DEPENDS" ${ARGN})
  file(GLOB main CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_MAIN}")
  if(NOT main)
    message(STATUS "${name}: not built, there is no ${ARG_MAIN}")
    return()
  endif()
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} shardlab::warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(rpath "$ORIGIN/../lib/shardlab")
  if(ARG_COMPONENT STREQUAL "real")
    list(APPEND rpath ${SHARDLAB_TORCH_RPATH})
  endif()
  # A run path that is changed by the installation ends in colons before: CMake makes room by them. To the loader each is the
  # current folder, whose libraries it would take.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${rpath}" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT ${ARG_COMPONENT} OPTIONAL)
endfunction()
