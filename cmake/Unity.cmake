# Sources compiled together: what they include is parsed, and the templates they use are instantiated, once for up to sixteen of them. A
# build from nothing takes a third of the time; a changed source is compiled with its neighbours. For those who build once (./run.sh), not
# for those who write. Names in unnamed namespaces meet: tests/rules/unity.py.
option(SHARDLAB_UNITY "Compile the sources of a folder together" OFF)

# shardlab_unity(<target> TOGETHER <dir>... SOURCES <source>...)
# The sources of one folder go together; those of folders below a TOGETHER folder count as that folder's.
function(shardlab_unity target)
  cmake_parse_arguments(ARG "" "" "TOGETHER;SOURCES" ${ARGN})
  if(NOT SHARDLAB_UNITY)
    return()
  endif()
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(folder "${source}" DIRECTORY)
    file(RELATIVE_PATH group "${CMAKE_CURRENT_SOURCE_DIR}" "${folder}")
    foreach(together IN LISTS ARG_TOGETHER)
      string(REGEX REPLACE "^${together}/.*" "${together}" group "${group}")
    endforeach()
    string(MAKE_C_IDENTIFIER "sources_${group}" group)
    list(APPEND ${group} "${source}")
    list(LENGTH ${group} number)
    math(EXPR part "(${number} - 1) / 16")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
