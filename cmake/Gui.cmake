# Whether the desktop window can be built, and its libraries as targets of our own.
#
# In:  SHARDLAB_BUILD_GUI (AUTO, ON, OFF)
# Out: SHARDLAB_GUI (boolean), shardlab_gui_missing (words, when it is off for want of something),
#      imgui, implot, text_editor (no window needed), imgui_desktop (GLFW and OpenGL 3), gui_fonts
set(SHARDLAB_GUI OFF)
set(SHARDLAB_GUI_IS_BUILT OFF CACHE INTERNAL "For the scripts")
set(shardlab_gui_missing "SHARDLAB_BUILD_GUI=OFF")
if(NOT SHARDLAB_BUILD_GUI)
  return()
endif()

find_package(glfw3 3.3 QUIET)
if(NOT glfw3_FOUND)
  set(shardlab_gui_missing "no GLFW: install libglfw3-dev")
else()
  include(ImguiBundle)
  set(shardlab_gui_missing "${shardlab_imgui_missing}")
endif()
if(shardlab_gui_missing)
  if(SHARDLAB_BUILD_GUI STREQUAL "ON")
    message(FATAL_ERROR "The window cannot be built: ${shardlab_gui_missing}. SHARDLAB_BUILD_GUI=OFF goes without it.")
  endif()
  return()
endif()
set(SHARDLAB_GUI ON)
set(SHARDLAB_GUI_IS_BUILT ON CACHE INTERNAL "For the scripts")

set(_external "${shardlab_imgui_bundle}/external")
set(_imgui "${_external}/hello_imgui/hello_imgui/external/imgui")
set(_implot "${_external}/implot/implot")
set(_editor "${_external}/ImGuiColorTextEdit/ImGuiColorTextEdit")
set(_fonts "${shardlab_imgui_bundle}/bindings/imgui_bundle/assets/fonts")

# Other people's sources: our warnings do not apply, and frames are fast in every build type.
function(_shardlab_foreign name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -w -O2)
endfunction()

_shardlab_foreign(imgui ${_imgui}/imgui.cpp ${_imgui}/imgui_draw.cpp ${_imgui}/imgui_tables.cpp ${_imgui}/imgui_widgets.cpp
  ${_imgui}/misc/cpp/imgui_stdlib.cpp)
target_include_directories(imgui SYSTEM PUBLIC "${PROJECT_SOURCE_DIR}/gui/imgui_config" ${_imgui} ${_imgui}/misc/cpp
  PRIVATE "${_external}/hello_imgui/hello_imgui/external/stb_hello_imgui")
target_compile_definitions(imgui PUBLIC "IMGUI_USER_CONFIG=\"shardlab_imconfig.h\"")

_shardlab_foreign(implot ${_implot}/implot.cpp ${_implot}/implot_items.cpp)
target_include_directories(implot SYSTEM PUBLIC ${_implot})
target_compile_definitions(implot PRIVATE "IMPLOT_CUSTOM_NUMERIC_TYPES=(float)(double)")  # of ten: most of the compile time
target_link_libraries(implot PUBLIC imgui)

_shardlab_foreign(text_editor ${_editor}/TextEditor.cpp)
target_include_directories(text_editor SYSTEM PUBLIC ${_editor})
target_link_libraries(text_editor PUBLIC imgui)

_shardlab_foreign(imgui_desktop ${_imgui}/backends/imgui_impl_glfw.cpp ${_imgui}/backends/imgui_impl_opengl3.cpp)
target_include_directories(imgui_desktop SYSTEM PUBLIC ${_imgui}/backends)
target_link_libraries(imgui_desktop PUBLIC imgui glfw ${CMAKE_DL_LIBS})

# PNG files: stb's writer, compiled once.
set(_png "${PROJECT_BINARY_DIR}/generated/stb_image_write.cpp")
file(CONFIGURE OUTPUT "${_png}" CONTENT "#define STB_IMAGE_WRITE_IMPLEMENTATION\n#include <stb_image_write.h>\n" @ONLY)
_shardlab_foreign(png_writer ${_png})
target_include_directories(png_writer SYSTEM PUBLIC "${_external}/hello_imgui/hello_imgui/external/stb_hello_imgui")

# Fonts inside the program: nothing to find or to ship beside it. extern const arrays, declared in gui/shell/fonts.cpp.
function(_shardlab_font out name file)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(source "${PROJECT_BINARY_DIR}/generated/font_${name}.cpp")
  set(content "namespace shardlab {
extern const unsigned char k_font_${name}[];
extern const unsigned k_font_${name}_size;
const unsigned char k_font_${name}[] = {
${hex}};
const unsigned k_font_${name}_size = sizeof k_font_${name};
}
")
  set(before "")
  if(EXISTS "${source}")
    file(READ "${source}" before)
  endif()
  if(NOT "${before}" STREQUAL "${content}")
    file(WRITE "${source}" "${content}")
  endif()
  set(${out} ${${out}} "${source}" PARENT_SCOPE)
endfunction()
_shardlab_font(_font_sources text ${_fonts}/Roboto/Roboto-Regular.ttf)
_shardlab_font(_font_sources bold ${_fonts}/Roboto/Roboto-Bold.ttf)
_shardlab_font(_font_sources mono ${_fonts}/Inconsolata-Medium.ttf)
_shardlab_foreign(gui_fonts ${_font_sources})
