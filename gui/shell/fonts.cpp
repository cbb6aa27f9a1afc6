#include "gui/shell/fonts.h"

namespace shardlab {

// Made by cmake/Gui.cmake from the files of the archive.
extern const unsigned char k_font_text[];
extern const unsigned k_font_text_size;
extern const unsigned char k_font_bold[];
extern const unsigned k_font_bold_size;
extern const unsigned char k_font_mono[];
extern const unsigned k_font_mono_size;

namespace gui {
namespace {

ImFont* add(const unsigned char* data, unsigned size, const char* name) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  snprintf(config.Name, sizeof config.Name, "%s", name);
  // The atlas only reads; its interface predates const.
  return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<unsigned char*>(data), static_cast<int>(size),
                                                    0, &config);
}

}  // namespace

Fonts load_fonts() {
  Fonts fonts;
  fonts.text = add(k_font_text, k_font_text_size, "text");
  fonts.bold = add(k_font_bold, k_font_bold_size, "bold");
  fonts.mono = add(k_font_mono, k_font_mono_size, "mono");
  return fonts;
}

}  // namespace gui
}  // namespace shardlab
