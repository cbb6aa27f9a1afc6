#include "gui/shell/item_probe.h"

#include <cstdarg>
#include <map>

#include <imgui_internal.h>

namespace shardlab::gui {
namespace {

// What the hooks write to while a probe is installed. They are C functions without a place for state of ours.
struct Recording {
  std::vector<ProbedItem>* items = nullptr;
  std::map<ImGuiID, std::size_t> by_id;
  std::map<ImGuiID, std::string> early;  // labels told before their item: tabs
};
Recording& recording() {
  static Recording instance;
  return instance;
}

}  // namespace

ItemProbe::ItemProbe() {
  recording().items = &items_;
  ImGui::GetCurrentContext()->TestEngineHookItems = true;
}

ItemProbe::~ItemProbe() {
  recording() = {};
  if (ImGuiContext* const context = ImGui::GetCurrentContext()) context->TestEngineHookItems = false;
}

void ItemProbe::begin_frame() {
  items_.clear();
  recording().by_id.clear();
  recording().early.clear();
}

namespace {

void record_place(ImGuiContext& context, ImGuiID id, const ImRect& box) {
  const ImGuiWindow* const window = context.CurrentWindow;
  if (id == 0 || window == nullptr) return;
  ImRect seen = box;
  seen.ClipWith(window->ClipRect);
  ProbedItem item;
  item.window = window->Name;
  item.min = seen.Min;
  item.max = seen.Max;
  item.visible = seen.Max.x > seen.Min.x && seen.Max.y > seen.Min.y;
  item.disabled = (context.CurrentItemFlags & ImGuiItemFlags_Disabled) != 0;
  if (const auto label = recording().early.find(id); label != recording().early.end())
    item.label = label->second;
  recording().by_id[id] = recording().items->size();
  recording().items->push_back(std::move(item));
}

}  // namespace
}  // namespace shardlab::gui

// The hooks that Dear ImGui calls when it is built with IMGUI_ENABLE_TEST_ENGINE.
void ImGuiTestEngineHook_ItemAdd(ImGuiContext* context, ImGuiID id, const ImRect& box,
                                 const ImGuiLastItemData*) {
  if (shardlab::gui::recording().items != nullptr) shardlab::gui::record_place(*context, id, box);
}

void ImGuiTestEngineHook_ItemInfo(ImGuiContext*, ImGuiID id, const char* label, ImGuiItemStatusFlags) {
  auto& recording = shardlab::gui::recording();
  if (recording.items == nullptr || label == nullptr) return;
  const auto found = recording.by_id.find(id);
  if (found != recording.by_id.end()) {
    (*recording.items)[found->second].label = label;
  } else {
    recording.early[id] = label;
  }
}

void ImGuiTestEngineHook_Log(ImGuiContext*, const char*, ...) {}

const char* ImGuiTestEngine_FindItemDebugLabel(ImGuiContext*, ImGuiID) {
  return nullptr;
}
