// Colours, fonts and lengths, by meaning. One value, made by the shell and read by panels and widgets.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <imgui.h>

#include "engine/base/words.h"
#include "engine/plan/buffer.h"
#include "engine/plan/instruction.h"

namespace shardlab::gui {
enum class ThemeKind : std::uint8_t { dark, light };
}

namespace shardlab {
template <>
inline constexpr auto k_words<gui::ThemeKind> =
    std::to_array<Word<gui::ThemeKind>>({{gui::ThemeKind::dark, "dark"}, {gui::ThemeKind::light, "light"}});
}

namespace shardlab::view {
class WordLinks;
}

namespace shardlab::gui {

struct Fonts {
  ImFont* text = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
};

struct Theme {
  ThemeKind kind = ThemeKind::dark;
  float scale = 1;  // multiplies every hand-drawn length: scaled(12)
  Fonts fonts;
  view::WordLinks* words = nullptr;  // texts make links of words of the glossary; null: they do not

  // Colours are ImGui's packed ones.
  ImU32 window, panel, popup, border, control, hovered, pressed;
  ImU32 text, dimmed, accent, selection, grid;
  ImU32 good, fair, bad;  // of errors and verdicts, readable as text
  std::array<ImU32, 8> series;

  float scaled(float length) const { return length * scale; }
};

// The colours and sizes, without fonts: the shell fills them in.
Theme make_theme(ThemeKind kind, float scale);

// Sets Dear ImGui's style, and ImPlot's when it has a context.
void apply_theme(const Theme& theme);

// What people recognise things by, the same in every panel.
ImU32 colour_of(const Theme& theme, BufferClass buffer_class);
ImU32 colour_of(const Theme& theme, InstructionKind kind);
// The same colour, more transparent: 0 to 1.
ImU32 faded(ImU32 colour, float opacity);
// White or black text, whichever reads better on the colour.
ImU32 text_on(ImU32 colour);

// Sizes of text before scaling.
inline constexpr float k_text_size = 15;
inline constexpr float k_small_size = 13;
inline constexpr float k_mono_size = 14;

}  // namespace shardlab::gui
