// Scenario: the settings as a form, and the text beside it; a change in one is a change in the other.
#include "engine/base/paths.h"
#include "gui/panels/scenario/scenario_form.h"
#include "gui/panels/scenario/scenario_text.h"

namespace shardlab::gui {
namespace {

class ScenarioPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "scenario",
            .title = "Scenario",
            .help = "The settings, as a form and as YAML",
            .area = DockArea::left,
            .rank = 0,
            .open = true,
            .shortcut = ImGuiMod_Ctrl | ImGuiKey_7};
  }

  void draw(PanelContext& context) override {
    if (context.session.documents_opened() == 0) return draw_welcome(context);
    const float width = ImGui::GetContentRegionAvail().x;
    if (width > context.theme.scaled(780)) return draw_both(width, context);
    if (!ImGui::BeginTabBar("sides", ImGuiTabBarFlags_DrawSelectedOverline)) return;
    if (ImGui::BeginTabItem("Form")) {
      form_.draw(context);
      ImGui::EndTabItem();
    }
    const bool wrong = context.session.problem().has_value();
    if (wrong) ImGui::PushStyleColor(ImGuiCol_Text, context.theme.bad);
    const bool shows_text = ImGui::BeginTabItem("YAML");
    if (wrong) ImGui::PopStyleColor();
    if (shows_text) {
      text_.draw(context);
      ImGui::EndTabItem();
    }
    ImGui::EndTabBar();
  }

 private:
  void draw_both(float width, PanelContext& context) {
    if (ImGui::BeginChild("form side", {width * 0.5F, 0})) form_.draw(context);
    ImGui::EndChild();
    ImGui::SameLine();
    if (ImGui::BeginChild("text side")) text_.draw(context);
    ImGui::EndChild();
  }

  static void draw_welcome(PanelContext& context) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted("No scenario is open.");
    ImGui::TextDisabled("Open one with Ctrl+O, or drop a YAML file on the window.");
    ImGui::PopTextWrapPos();
    ImGui::Spacing();
    Session& session = context.session;
    if (ImGui::Button("Start from an example")) {
      if (const auto file = find_scenario("first/llama3-8b-fsdp2-8xh100.yaml")) {
        session.open(*file);
      } else {
        session.messages().add(file.error(), "file", session.now());
      }
    }
    const std::vector<std::string> recent = session.preferences().recent_files;
    if (!recent.empty()) ImGui::SeparatorText("Recent");
    for (const std::string& file : recent)
      if (ImGui::TextLink(file.c_str())) session.open(file);
  }

  ScenarioForm form_;
  ScenarioText text_;
};

}  // namespace

std::unique_ptr<Panel> make_scenario_panel() {
  return std::make_unique<ScenarioPanel>();
}

}  // namespace shardlab::gui
