#include "gui/shell/headless.h"

#include <implot.h>

#include "gui/shell/fonts.h"

namespace shardlab::gui {

Headless::Headless(ImVec2 size, float scale) : scale_(scale) {
  ImGui::CreateContext();
  ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
  io.BackendPlatformName = "none";
  io.IniFilename = nullptr;
  io.ConfigInputTextCursorBlink = false;  // a picture is the same at any time
  io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  fonts_ = load_fonts();
  resize(size);
}

Headless::~Headless() {
  for (ImTextureData* const texture : ImGui::GetPlatformIO().Textures) {
    texture->SetTexID(ImTextureID_Invalid);
    texture->SetStatus(ImTextureStatus_Destroyed);
  }
  ImPlot::DestroyContext();
  ImGui::DestroyContext();
}

void Headless::resize(ImVec2 size) {
  ImGui::GetIO().DisplaySize = size;
}

void Headless::frame(Session& session) {
  constexpr float k_frame = 1.0F / 60;
  ImGui::GetIO().DeltaTime = k_frame;
  now_ += k_frame;
  session.update(now_);
  shell_->set_monitor_scale(scale_);
  shell_->prepare();
  ImGui::NewFrame();
  shell_->draw();
  ImGui::Render();
  keep_textures(*ImGui::GetDrawData());
  shell_->finish_frame();
}

Picture Headless::picture() const {
  return rasterise(*ImGui::GetDrawData(), shell_->theme().window);
}

}  // namespace shardlab::gui
