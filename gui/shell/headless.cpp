#include "gui/shell/headless.h"

#include <thread>

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

bool Headless::draw_until_still(Session& session, std::chrono::milliseconds patience) {
  constexpr int k_frames_after = 40;
  constexpr auto k_pause = std::chrono::milliseconds(5);
  const auto end = std::chrono::steady_clock::now() + patience;
  for (int still = 0; still < k_frames_after;) {
    frame(session);
    if (!session.busy() && !shell_->busy()) {
      ++still;
      continue;
    }
    if (std::chrono::steady_clock::now() > end) return false;
    still = 0;
    std::this_thread::sleep_for(k_pause);
  }
  return true;
}

Picture Headless::picture() const {
  return rasterise(*ImGui::GetDrawData(), shell_->theme().window);
}

}  // namespace shardlab::gui
