// Triangles to pixels. Colours are blended as a graphics card does it for Dear ImGui: not premultiplied,
// source over.
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/widgets/picture.h"

namespace shardlab::gui {
namespace {

struct Colour {
  float r, g, b, a;  // 0 to 255
};

Colour unpack(ImU32 packed) {
  return {static_cast<float>((packed >> IM_COL32_R_SHIFT) & 255),
          static_cast<float>((packed >> IM_COL32_G_SHIFT) & 255),
          static_cast<float>((packed >> IM_COL32_B_SHIFT) & 255),
          static_cast<float>((packed >> IM_COL32_A_SHIFT) & 255)};
}

Colour mix(const Colour& a, const Colour& b, const Colour& c, float wa, float wb, float wc) {
  return {a.r * wa + b.r * wb + c.r * wc, a.g * wa + b.g * wb + c.g * wc, a.b * wa + b.b * wb + c.b * wc,
          a.a * wa + b.a * wb + c.a * wc};
}

ImU32 over(ImU32 below, const Colour& colour) {
  const Colour under = unpack(below);
  const float share = std::clamp(colour.a / 255, 0.0F, 1.0F);
  const auto blend = [&](float top, float bottom) {
    return static_cast<ImU32>(std::lround(std::clamp(bottom + (top - bottom) * share, 0.0F, 255.0F)));
  };
  return IM_COL32(blend(colour.r, under.r), blend(colour.g, under.g), blend(colour.b, under.b), 255);
}

// A texel, white with the atlas's coverage where it has only that.
Colour texel(const ImTextureData& texture, int x, int y) {
  x = std::clamp(x, 0, texture.Width - 1);
  y = std::clamp(y, 0, texture.Height - 1);
  const unsigned char* const at = texture.Pixels + static_cast<std::size_t>(y * texture.Width + x) *
                                                       static_cast<std::size_t>(texture.BytesPerPixel);
  if (texture.Format == ImTextureFormat_Alpha8) return {255, 255, 255, static_cast<float>(at[0])};
  return {static_cast<float>(at[0]), static_cast<float>(at[1]), static_cast<float>(at[2]),
          static_cast<float>(at[3])};
}

// Bilinear, as the OpenGL renderer samples.
Colour sample(const ImTextureData& texture, float u, float v) {
  const float x = u * static_cast<float>(texture.Width) - 0.5F;
  const float y = v * static_cast<float>(texture.Height) - 0.5F;
  const float left = std::floor(x), top = std::floor(y);
  const float fx = x - left, fy = y - top;
  const int ix = static_cast<int>(left), iy = static_cast<int>(top);
  const Colour upper = mix(texel(texture, ix, iy), texel(texture, ix + 1, iy), {}, 1 - fx, fx, 0);
  const Colour lower = mix(texel(texture, ix, iy + 1), texel(texture, ix + 1, iy + 1), {}, 1 - fx, fx, 0);
  return mix(upper, lower, {}, 1 - fy, fy, 0);
}

struct Corner {
  float x, y, u, v;
  Colour colour;
};

struct Clip {
  int left, top, right, bottom;  // right and bottom are outside
};

// Twice the area of a, b and the point; positive on the inner side.
float edge(const Corner& a, const Corner& b, float x, float y) {
  return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

// Pixels whose centre lies exactly on an edge belong to one of its two triangles.
bool owns_border(const Corner& a, const Corner& b) {
  return b.y < a.y || (b.y == a.y && b.x > a.x);
}

void fill(Picture& picture, std::array<Corner, 3> corner, const Clip& clip, const ImTextureData* texture) {
  float area = edge(corner[0], corner[1], corner[2].x, corner[2].y);
  if (area == 0) return;
  if (area < 0) {
    std::swap(corner[1], corner[2]);
    area = -area;
  }
  const auto [left, right] = std::minmax({corner[0].x, corner[1].x, corner[2].x});
  const auto [top, bottom] = std::minmax({corner[0].y, corner[1].y, corner[2].y});
  const int x_begin = std::max(clip.left, static_cast<int>(std::floor(left)));
  const int x_end = std::min(clip.right, static_cast<int>(std::ceil(right)) + 1);
  const int y_begin = std::max(clip.top, static_cast<int>(std::floor(top)));
  const int y_end = std::min(clip.bottom, static_cast<int>(std::ceil(bottom)) + 1);
  const bool own0 = owns_border(corner[1], corner[2]), own1 = owns_border(corner[2], corner[0]),
             own2 = owns_border(corner[0], corner[1]);
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = x_begin; x < x_end; ++x) {
      const float px = static_cast<float>(x) + 0.5F, py = static_cast<float>(y) + 0.5F;
      const float e0 = edge(corner[1], corner[2], px, py);
      const float e1 = edge(corner[2], corner[0], px, py);
      const float e2 = edge(corner[0], corner[1], px, py);
      if (e0 < 0 || e1 < 0 || e2 < 0) continue;
      if ((e0 == 0 && !own0) || (e1 == 0 && !own1) || (e2 == 0 && !own2)) continue;
      const float w0 = e0 / area, w1 = e1 / area, w2 = e2 / area;
      Colour colour = mix(corner[0].colour, corner[1].colour, corner[2].colour, w0, w1, w2);
      if (texture != nullptr) {
        const Colour tint = sample(*texture, corner[0].u * w0 + corner[1].u * w1 + corner[2].u * w2,
                                   corner[0].v * w0 + corner[1].v * w1 + corner[2].v * w2);
        colour = {colour.r * tint.r / 255, colour.g * tint.g / 255, colour.b * tint.b / 255,
                  colour.a * tint.a / 255};
      }
      ImU32& pixel = picture.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
                                    static_cast<std::size_t>(x)];
      pixel = over(pixel, colour);
    }
  }
}

Corner corner_of(const ImDrawVert& vertex, const ImDrawData& frame) {
  return {(vertex.pos.x - frame.DisplayPos.x) * frame.FramebufferScale.x,
          (vertex.pos.y - frame.DisplayPos.y) * frame.FramebufferScale.y, vertex.uv.x, vertex.uv.y,
          unpack(vertex.col)};
}

Clip clip_of(const ImDrawCmd& command, const ImDrawData& frame, const Picture& picture) {
  const auto pixel = [](float value, int most) { return std::clamp(static_cast<int>(value), 0, most); };
  return {pixel(command.ClipRect.x - frame.DisplayPos.x, picture.width),
          pixel(command.ClipRect.y - frame.DisplayPos.y, picture.height),
          pixel(command.ClipRect.z - frame.DisplayPos.x, picture.width),
          pixel(command.ClipRect.w - frame.DisplayPos.y, picture.height)};
}

void draw_command(Picture& picture, const ImDrawData& frame, const ImDrawList& list,
                  const ImDrawCmd& command) {
  if (command.UserCallback != nullptr) return;
  const Clip clip = clip_of(command, frame, picture);
  const ImTextureData* const texture = command.TexRef._TexData;
  for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
    std::array<Corner, 3> corners{};
    for (unsigned j = 0; j < 3; ++j) {
      const ImDrawIdx index = list.IdxBuffer[static_cast<int>(command.IdxOffset + i + j)];
      corners[j] = corner_of(list.VtxBuffer[static_cast<int>(command.VtxOffset + index)], frame);
    }
    const bool flat = corners[0].u == corners[1].u && corners[1].u == corners[2].u &&
                      corners[0].v == corners[1].v &&
                      corners[1].v == corners[2].v;  // the atlas's white pixel
    fill(picture, corners, clip, flat ? nullptr : texture);
  }
}

}  // namespace

Picture rasterise(const ImDrawData& frame, ImU32 background) {
  Picture picture;
  picture.width = static_cast<int>(frame.DisplaySize.x * frame.FramebufferScale.x);
  picture.height = static_cast<int>(frame.DisplaySize.y * frame.FramebufferScale.y);
  picture.pixels.assign(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height),
                        background);
  for (const ImDrawList* const list : frame.CmdLists)
    for (const ImDrawCmd& command : list->CmdBuffer) draw_command(picture, frame, *list, command);
  return picture;
}

}  // namespace shardlab::gui
