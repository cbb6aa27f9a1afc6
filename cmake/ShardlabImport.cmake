# shardlab_import(<name> <target or library>...): the interface target shardlab::<name> for a library.
function(shardlab_import name)
  add_library(shardlab::${name} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(shardlab::${name} INTERFACE ${ARGN})
endfunction()

# shardlab_import_archive(<name> NAME <library> HEADER <header> [LINKS <lib>...]): the same from lib<library>.a.
function(shardlab_import_archive name)
  cmake_parse_arguments(ARG "" "NAME;HEADER" "LINKS" ${ARGN})
  find_library(SHARDLAB_${name}_ARCHIVE lib${ARG_NAME}.a REQUIRED)
  find_path(SHARDLAB_${name}_INCLUDE ${ARG_HEADER} REQUIRED)
  mark_as_advanced(SHARDLAB_${name}_ARCHIVE SHARDLAB_${name}_INCLUDE)
  shardlab_import(${name} ${SHARDLAB_${name}_ARCHIVE} ${ARG_LINKS})
  target_include_directories(shardlab::${name} SYSTEM INTERFACE ${SHARDLAB_${name}_INCLUDE})
endfunction()
