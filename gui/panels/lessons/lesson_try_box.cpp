#include "gui/panels/lessons/lesson_try_box.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <misc/cpp/imgui_stdlib.h>

#include "engine/lessons/typed_settings.h"
#include "engine/scenario/yaml_edit.h"
#include "gui/widgets/draw_markdown.h"
#include "gui/widgets/error_text.h"

namespace shardlab::gui {

void LessonTryBox::propose(const view::TryPage& page) {
  typed_ = fmt::format("{}", fmt::join(page.settings, " "));
}

void LessonTryBox::draw(const view::TryPage& page, view::LessonJob& job, LessonStage& stage, Session& session,
                        const Theme& theme) {
  ImGui::SetNextItemWidth(-theme.scaled(90));
  const bool entered =
      ImGui::InputTextWithHint("##settings", "key=value ...", &typed_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const bool pressed = ImGui::Button("Try");
  if ((entered || pressed) && !typed_.empty()) try_now(page, job, stage, session);
  const auto& effect = job.view().effect;
  if (effect && !*effect) return draw_error(effect->error(), theme);
  draw_fixed_text("##effect", effect ? **effect : page.effect, theme);
}

// One edit of the scenario that is open, which can be undone.
void LessonTryBox::try_now(const view::TryPage& page, view::LessonJob& job, LessonStage& stage,
                           Session& session) {
  const std::vector<std::string> settings = lessons::typed_settings(typed_);
  job.try_settings(settings);
  std::string text = page.scene.text;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return;
    auto changed = set_yaml_value(text, setting.substr(0, equals), setting.substr(equals + 1));
    if (!changed) return;
    text = *std::move(changed);
  }
  stage.change(page.scene, std::move(text), typed_, session);
}

}  // namespace shardlab::gui
