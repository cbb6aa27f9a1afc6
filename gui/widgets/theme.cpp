#include "gui/widgets/theme.h"

#include <implot.h>

namespace shardlab::gui {
namespace {

constexpr ImU32 rgb(std::uint32_t hex, std::uint32_t alpha = 255) {
  return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, alpha);
}

Theme dark() {
  Theme theme{};
  theme.window = rgb(0x14171C), theme.panel = rgb(0x1A1E25), theme.popup = rgb(0x1E232B);
  theme.border = rgb(0x2F3641), theme.control = rgb(0x252B35), theme.hovered = rgb(0x2D3541);
  theme.pressed = rgb(0x34404F);
  theme.text = rgb(0xDCE1E9), theme.dimmed = rgb(0x8D97A8), theme.accent = rgb(0x4C7FE6);
  theme.selection = rgb(0x2B3B57), theme.grid = rgb(0xFFFFFF, 16);
  theme.good = rgb(0x45BFA8), theme.fair = rgb(0xE0A458), theme.bad = rgb(0xE5717B);
  theme.series = {rgb(0x5B8DEF), rgb(0x3FB6A8), rgb(0xE0A458), rgb(0xB57EDC),
                  rgb(0xD96C75), rgb(0x8A93A6), rgb(0x7FB55A), rgb(0xE3CF62)};
  return theme;
}

Theme light() {
  Theme theme{};
  theme.window = rgb(0xE9ECF1), theme.panel = rgb(0xFAFBFC), theme.popup = rgb(0xFFFFFF);
  theme.border = rgb(0xCBD2DC), theme.control = rgb(0xE8ECF2), theme.hovered = rgb(0xDCE3EC);
  theme.pressed = rgb(0xCCD6E3);
  theme.text = rgb(0x1D2530), theme.dimmed = rgb(0x5B6675), theme.accent = rgb(0x2C63CF);
  theme.selection = rgb(0xCFDDF7), theme.grid = rgb(0x000000, 20);
  theme.good = rgb(0x0B7A69), theme.fair = rgb(0x94600A), theme.bad = rgb(0xB7313E);
  theme.series = {rgb(0x3D72D9), rgb(0x1F9486), rgb(0xC9822B), rgb(0x9458C4),
                  rgb(0xC24C58), rgb(0x6B7588), rgb(0x5E9438), rgb(0xB59F1F)};
  return theme;
}

ImVec4 vec(ImU32 colour) {
  return ImGui::ColorConvertU32ToFloat4(colour);
}

void set_colours(ImGuiStyle& style, const Theme& theme) {
  const auto set = [&](std::initializer_list<ImGuiCol> slots, ImU32 colour) {
    for (const ImGuiCol slot : slots) style.Colors[slot] = vec(colour);
  };
  set({ImGuiCol_Text, ImGuiCol_InputTextCursor}, theme.text);
  set({ImGuiCol_TextDisabled}, theme.dimmed);
  set({ImGuiCol_WindowBg, ImGuiCol_TabSelected, ImGuiCol_TabDimmedSelected}, theme.panel);
  set({ImGuiCol_ChildBg, ImGuiCol_TableRowBg}, IM_COL32(0, 0, 0, 0));
  set({ImGuiCol_PopupBg}, theme.popup);
  set({ImGuiCol_Border, ImGuiCol_Separator, ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight},
      theme.border);
  set({ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_TableHeaderBg}, theme.control);
  set({ImGuiCol_Header}, theme.selection);
  set({ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered},
      theme.hovered);
  set({ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive}, theme.pressed);
  set({ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg, ImGuiCol_Tab,
       ImGuiCol_TabDimmed, ImGuiCol_DockingEmptyBg},
      theme.window);
  set({ImGuiCol_ScrollbarBg}, IM_COL32(0, 0, 0, 0));
  set({ImGuiCol_ScrollbarGrab}, theme.pressed);
  set({ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive}, theme.dimmed);
  set({ImGuiCol_CheckMark, ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive, ImGuiCol_SeparatorHovered,
       ImGuiCol_SeparatorActive, ImGuiCol_ResizeGripHovered, ImGuiCol_ResizeGripActive, ImGuiCol_NavCursor,
       ImGuiCol_TabSelectedOverline, ImGuiCol_DragDropTarget},
      theme.accent);
  set({ImGuiCol_TextLink}, theme.kind == ThemeKind::dark ? theme.series[0] : theme.accent);
  set({ImGuiCol_TabDimmedSelectedOverline}, faded(theme.accent, 0.45F));  // not where the keyboard is
  set({ImGuiCol_ResizeGrip}, IM_COL32(0, 0, 0, 0));
  set({ImGuiCol_TextSelectedBg, ImGuiCol_DockingPreview}, theme.selection);
  set({ImGuiCol_TableRowBgAlt}, faded(theme.text, 0.025F));
  set({ImGuiCol_ModalWindowDimBg}, IM_COL32(0, 0, 0, 110));
}

void set_lengths(ImGuiStyle& style) {
  style.WindowPadding = {12, 10};
  style.FramePadding = {8, 4};
  style.ItemSpacing = {8, 6};
  style.ItemInnerSpacing = {7, 5};
  style.CellPadding = {8, 3};
  style.ScrollbarSize = 12;
  style.WindowRounding = 0;
  style.ChildRounding = style.FrameRounding = style.PopupRounding = style.GrabRounding = 5;
  style.TabRounding = 4;
  style.ScrollbarRounding = 6;
  style.WindowBorderSize = 0;
  style.FrameBorderSize = 1;  // fields and boxes to tick are seen on any background
  style.TabBarBorderSize = 0;
  style.TabBarOverlineSize = 2;
  style.DockingSeparatorSize = 3;
  style.WindowMenuButtonPosition = ImGuiDir_None;
  style.SeparatorTextBorderSize = 1;
  style.SeparatorTextPadding = {0, 6};
}

}  // namespace

Theme make_theme(ThemeKind kind, float scale) {
  Theme theme = kind == ThemeKind::dark ? dark() : light();
  theme.kind = kind;
  theme.scale = scale;
  return theme;
}

void apply_theme(const Theme& theme) {
  ImGuiStyle style;  // from unscaled values: ScaleAllSizes() compounds
  if (theme.kind == ThemeKind::light) {
    ImGui::StyleColorsLight(&style);
  } else {
    ImGui::StyleColorsDark(&style);
  }
  set_colours(style, theme);
  set_lengths(style);
  style.ScaleAllSizes(theme.scale);
  style.FontSizeBase = k_text_size;
  style.FontScaleDpi = theme.scale;
  ImGui::GetStyle() = style;
  if (ImPlot::GetCurrentContext() == nullptr) return;
  ImPlotStyle& plot = ImPlot::GetStyle();
  plot = ImPlotStyle();
  ImPlot::StyleColorsAuto(&plot);
  plot.Colors[ImPlotCol_PlotBg] = plot.Colors[ImPlotCol_FrameBg] = ImVec4(0, 0, 0, 0);
  plot.Colors[ImPlotCol_PlotBorder] = vec(theme.border);
  plot.Colors[ImPlotCol_AxisGrid] = vec(faded(theme.text, 0.12F));
  plot.Colors[ImPlotCol_AxisText] = vec(theme.dimmed);
  plot.Colors[ImPlotCol_LegendBg] = vec(faded(theme.popup, 0.85F));
  plot.PlotPadding = {theme.scaled(4), theme.scaled(6)};
  plot.LabelPadding = {theme.scaled(5), theme.scaled(4)};
  plot.LegendPadding = {theme.scaled(8), theme.scaled(8)};
  plot.LegendInnerPadding = {theme.scaled(6), theme.scaled(4)};
}

ImU32 colour_of(const Theme& theme, BufferClass buffer_class) {
  switch (buffer_class) {
    case BufferClass::parameter: return faded(theme.series[0], 0.55F);
    case BufferClass::parameter_shard: return theme.series[0];
    case BufferClass::gathered_parameters: return theme.series[1];
    case BufferClass::gather_buffer: return faded(theme.series[1], 0.6F);
    case BufferClass::gradient: return theme.series[2];
    case BufferClass::gradient_shard: return theme.series[7];
    case BufferClass::reduce_buffer: return faded(theme.series[2], 0.6F);
    case BufferClass::optimizer_state: return theme.series[3];
    case BufferClass::activation: return theme.series[4];
    case BufferClass::activation_gradient: return faded(theme.series[4], 0.6F);
    case BufferClass::workspace: return theme.series[6];
    default: return theme.series[5];
  }
}

ImU32 colour_of(const Theme& theme, InstructionKind kind) {
  if (is_collective(kind)) return kind == InstructionKind::AllGather ? theme.series[1] : theme.series[2];
  switch (kind) {
    case InstructionKind::Forward: return theme.series[0];
    case InstructionKind::Backward: return theme.series[3];
    case InstructionKind::Recompute: return faded(theme.series[0], 0.65F);
    case InstructionKind::OptimizerStep:
    case InstructionKind::ClipGradients:
    case InstructionKind::GradientNorms:
    case InstructionKind::Unscale:
    case InstructionKind::CheckFinite:
    case InstructionKind::ZeroGradients: return theme.series[4];
    default: return theme.series[5];
  }
}

ImU32 faded(ImU32 colour, float opacity) {
  const auto alpha = static_cast<ImU32>(static_cast<float>(colour >> IM_COL32_A_SHIFT) * opacity + 0.5F);
  return (colour & ~IM_COL32_A_MASK) | (alpha << IM_COL32_A_SHIFT);
}

ImU32 text_on(ImU32 colour) {
  const ImVec4 rgb = vec(colour);
  const float light = 0.299F * rgb.x + 0.587F * rgb.y + 0.114F * rgb.z;
  return light > 0.55F ? IM_COL32(15, 18, 24, 255) : IM_COL32(250, 251, 253, 255);
}

}  // namespace shardlab::gui
