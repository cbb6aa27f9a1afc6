#include "gui/widgets/theme.h"

#include <set>

#include "tests/catch.h"

namespace shardlab::gui {
namespace {

// As it looks on the panel: a faded colour lets it shine through.
ImU32 seen(const Theme& theme, ImU32 colour) {
  const ImVec4 above = ImGui::ColorConvertU32ToFloat4(colour);
  const ImVec4 below = ImGui::ColorConvertU32ToFloat4(theme.panel);
  const auto mix = [&](float a, float b) { return a * above.w + b * (1 - above.w); };
  return ImGui::ColorConvertFloat4ToU32(
      {mix(above.x, below.x), mix(above.y, below.y), mix(above.z, below.z), 1});
}

int distance(ImU32 a, ImU32 b) {
  int sum = 0;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT})
    sum += std::abs(static_cast<int>((a >> shift) & 255) - static_cast<int>((b >> shift) & 255));
  return sum;
}

bool is_small(BufferClass its) {
  return its == BufferClass::batch || its == BufferClass::constant || its == BufferClass::scalar;
}

}  // namespace

TEST_CASE("classes of buffers are told apart by their colour, in both themes") {
  constexpr int k_least = 40;  // of 765
  for (const ThemeKind kind : {ThemeKind::dark, ThemeKind::light}) {
    const Theme theme = make_theme(kind, 1);
    for (std::size_t i = 0; i < k_buffer_classes; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto a = static_cast<BufferClass>(i), b = static_cast<BufferClass>(j);
        if (is_small(a) && is_small(b)) continue;  // too small to be seen in any plot
        INFO(to_string(a) << " and " << to_string(b));
        CHECK(distance(seen(theme, colour_of(theme, a)), seen(theme, colour_of(theme, b))) > k_least);
      }
    }
  }
}

}  // namespace shardlab::gui
