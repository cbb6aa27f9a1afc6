# Who wrote what is compiled into the programs, and under which licence.
#
# Out: shardlab_licences: a file of all of them
set(shardlab_licences "${PROJECT_BINARY_DIR}/generated/copyright")
set(_text "shardlab, a workbench for sharded data-parallel training

Under the Apache License, version 2.0: the file LICENSE beside this one, on Debian also /usr/share/common-licenses/Apache-2.0.

The training text (share/shardlab/assets/data) is made of the texts of licences; its README names them.

Compiled into the programs is what follows. The libraries that are loaded come with licences of their own.
")

# _shardlab_licence(<title> <file>): nothing where the distribution ships no such file.
function(_shardlab_licence title file)
  if(EXISTS "${file}")
    file(READ "${file}" content)
    string(REPLACE ";" "\;" content "${content}")
    set(_text "${_text}\n\n=== ${title}\n\n${content}" PARENT_SCOPE)
  endif()
endfunction()

_shardlab_licence("nlohmann-json" /usr/share/doc/nlohmann-json3-dev/copyright)
_shardlab_licence("CLI11" /usr/share/doc/libcli11-dev/copyright)
_shardlab_licence("expected" /usr/share/doc/libexpected-dev/copyright)
_shardlab_licence("SQLiteCpp" /usr/share/doc/libsqlitecpp-dev/copyright)
_shardlab_licence("fmt" /usr/share/doc/libfmt-dev/copyright)
_shardlab_licence("liburing" /usr/share/doc/liburing-dev/copyright)
_shardlab_licence("spdlog" /usr/share/doc/libspdlog-dev/copyright)
if(SHARDLAB_GUI)
  set(_external "${shardlab_imgui_bundle}/external")
  _shardlab_licence("Dear ImGui (the window)" "${_external}/hello_imgui/hello_imgui/external/imgui/LICENSE.txt")
  _shardlab_licence("ImPlot (the window)" "${_external}/implot/implot/LICENSE")
  _shardlab_licence("ImGuiColorTextEdit (the window)" "${_external}/ImGuiColorTextEdit/ImGuiColorTextEdit/LICENSE")
  _shardlab_licence("Roboto, a font (the window)" "${shardlab_imgui_bundle}/bindings/imgui_bundle/assets/fonts/Roboto/LICENSE.txt")
  string(APPEND _text "\n\n=== stb_image_write, stb_truetype and others (the window)\n
By Sean Barrett. In the public domain, or under the MIT License, as you choose.

=== Inconsolata, a font (the window)\n
Copyright 2006 The Inconsolata Project Authors. Under the SIL Open Font License, version 1.1: https://openfontlicense.org
")
endif()
file(CONFIGURE OUTPUT "${shardlab_licences}" CONTENT "@_text@" @ONLY)
