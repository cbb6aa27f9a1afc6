// Results that are no longer true are drawn faint.
#pragma once

#include <imgui.h>

namespace shardlab::gui {

// While it lives, everything is drawn faint if `stale`. Nothing is disabled: old results can still be read
// and chosen.
class DimWhenStale {
 public:
  explicit DimWhenStale(bool stale) : dimmed_(stale) {
    if (dimmed_) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * 0.45F);
  }
  ~DimWhenStale() {
    if (dimmed_) ImGui::PopStyleVar();
  }
  DimWhenStale(const DimWhenStale&) = delete;
  DimWhenStale& operator=(const DimWhenStale&) = delete;

 private:
  bool dimmed_;
};

}  // namespace shardlab::gui
