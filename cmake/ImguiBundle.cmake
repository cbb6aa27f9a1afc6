# The sources of Dear ImGui (docking), ImPlot, a text editor and two fonts: one archive of the Python package index, pinned by
# its hash, kept and unpacked once for all checkouts. Nothing of it is copied into the repository.
#
# In:  SHARDLAB_IMGUI_BUNDLE_DIR: an unpacked archive, or a folder with the archive in it, for machines without the index
# Out: shardlab_imgui_bundle: the unpacked folder; empty, with shardlab_imgui_missing in words, when it cannot be had
set(SHARDLAB_IMGUI_BUNDLE_DIR "" CACHE PATH "Folder of imgui_bundle's source archive, packed or unpacked; empty: fetched by pip")

set(_version 1.92.801)
set(_sha256 7d790708affe7476969d397784b40eb91760a201ce752131e5bedf4d514e3a45)
set(_name imgui_bundle-${_version})
set(_imgui external/hello_imgui/hello_imgui/external)  # the copy that is equal to upstream's docking branch
set(_patterns
  */${_imgui}/imgui/*.cpp */${_imgui}/imgui/*.h */${_imgui}/imgui/LICENSE.txt */${_imgui}/stb_hello_imgui/*.h
  */external/implot/implot/*.cpp */external/implot/implot/*.h */external/implot/implot/LICENSE
  */external/ImGuiColorTextEdit/ImGuiColorTextEdit/*
  */bindings/imgui_bundle/assets/fonts/Roboto/* */bindings/imgui_bundle/assets/fonts/Inconsolata-Medium.ttf)

# An interpreter that has pip: libtorch's, the system's, or one made for this.
function(_shardlab_python_with_pip out cache)
  foreach(python "${SHARDLAB_PYTHON}" /usr/bin/python3 "${cache}/pip/bin/python3")
    if(python AND EXISTS "${python}")
      execute_process(COMMAND "${python}" -m pip --version RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
      if(status EQUAL 0)
        set(${out} "${python}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  find_program(SHARDLAB_ANY_PYTHON python3)
  mark_as_advanced(SHARDLAB_ANY_PYTHON)
  if(SHARDLAB_ANY_PYTHON)
    execute_process(COMMAND "${SHARDLAB_ANY_PYTHON}" -m venv "${cache}/pip" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(${out} "${cache}/pip/bin/python3" PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(_shardlab_fetch archive cache out_problem)
  _shardlab_python_with_pip(python "${cache}")
  if(NOT python)
    set(${out_problem} "there is no Python with pip" PARENT_SCOPE)
    return()
  endif()
  message(STATUS "imgui_bundle ${_version}: fetching 48 MB, once for all checkouts")
  file(WRITE "${cache}/imgui.txt" "imgui-bundle==${_version} --hash=sha256:${_sha256}\n")
  execute_process(
    COMMAND "${python}" -m pip --disable-pip-version-check download --no-deps --no-binary imgui-bundle --require-hashes
            --progress-bar off --retries 2 -d "${cache}" -r "${cache}/imgui.txt"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(REGEX MATCH "(ERROR[^\n]*)" line "${output}")
    set(${out_problem} "pip could not fetch it: ${line}" PARENT_SCOPE)
  endif()
endfunction()

# Unpacks beside the archive unless the stamp says that these patterns of this archive are there.
function(_shardlab_unpack archive folder out_problem)
  set(stamp "${_sha256} ${_patterns}")
  if(EXISTS "${folder}/.complete")
    file(READ "${folder}/.complete" found)
    if(found STREQUAL stamp)
      return()
    endif()
  endif()
  file(SHA256 "${archive}" hash)
  if(NOT hash STREQUAL _sha256)
    file(REMOVE "${archive}")
    set(${out_problem} "${archive} did not have the pinned hash and was removed" PARENT_SCOPE)
    return()
  endif()
  file(REMOVE_RECURSE "${folder}")
  get_filename_component(parent "${folder}" DIRECTORY)
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${parent}" PATTERNS ${_patterns})
  file(WRITE "${folder}/.complete" "${stamp}")
endfunction()

function(_shardlab_find_imgui out_folder out_problem)
  if(EXISTS "${SHARDLAB_IMGUI_BUNDLE_DIR}/${_imgui}/imgui/imgui.h")
    set(${out_folder} "${SHARDLAB_IMGUI_BUNDLE_DIR}" PARENT_SCOPE)
    return()
  endif()
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(cache "$ENV{XDG_CACHE_HOME}/shardlab/imgui")
  else()
    set(cache "$ENV{HOME}/.cache/shardlab/imgui")
  endif()
  file(MAKE_DIRECTORY "${cache}")
  file(LOCK "${cache}/.lock" GUARD FUNCTION TIMEOUT 600)  # two checkouts may configure at once
  set(archive "${cache}/${_name}.tar.gz")
  if(EXISTS "${SHARDLAB_IMGUI_BUNDLE_DIR}/${_name}.tar.gz")
    file(COPY "${SHARDLAB_IMGUI_BUNDLE_DIR}/${_name}.tar.gz" DESTINATION "${cache}")
  elseif(NOT EXISTS "${archive}")
    _shardlab_fetch("${archive}" "${cache}" problem)
  endif()
  if(NOT problem)
    _shardlab_unpack("${archive}" "${cache}/${_name}" problem)
  endif()
  if(NOT problem)
    set(${out_folder} "${cache}/${_name}" PARENT_SCOPE)
  endif()
  set(${out_problem} "${problem}" PARENT_SCOPE)
endfunction()

_shardlab_find_imgui(shardlab_imgui_bundle shardlab_imgui_missing)
