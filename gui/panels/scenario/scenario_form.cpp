#include "gui/panels/scenario/scenario_form.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void tooltip(const FormField& field, const FieldState& state, const Theme& theme) {
  if (!ImGui::BeginItemTooltip()) return;
  ImGui::PushTextWrapPos(theme.scaled(380));
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(field.key.c_str());
  ImGui::PopFont();
  ImGui::TextUnformatted(field.help.c_str());
  const std::string values = field.type + (field.values.empty() ? "" : ": " + field.values);
  ImGui::TextDisabled("%s", values.c_str());
  if (!field.default_text.empty()) ImGui::TextDisabled("default: %s", field.default_text.c_str());
  if (!field.condition_key.empty()) {
    const std::string others = fmt::format("{}", fmt::join(field.condition_values, ", "));
    ImGui::TextDisabled("only with %s %s", field.condition_key.c_str(), others.c_str());
  }
  if (!field.unsupported.empty()) ImGui::TextColored(ImColor(theme.fair), "%s", field.unsupported.c_str());
  if (!state.problem.empty()) ImGui::TextColored(ImColor(theme.bad), "%s", state.problem.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

std::string hidden(const FormField& field) {
  return "##" + field.key;
}

}  // namespace

void ScenarioForm::refresh(const Session& session) {
  const std::string problem = session.problem() ? to_string(*session.problem()) : "";
  // Every document counts its revisions from the same number.
  const bool is_same =
      session.documents_opened() == read_opened_ && session.document().revision() == read_revision_;
  if (is_same && problem == read_problem_ && !states_.empty()) return;
  read_opened_ = session.documents_opened();
  read_revision_ = session.document().revision();
  read_problem_ = problem;
  const auto root = parse_yaml(session.document().text(), "text");
  is_yaml_ = root.has_value();
  if (!root) return;  // the states before are shown, and cannot be changed
  const std::vector<ProblemLine> lines =
      session.problem() ? problem_lines(*session.problem(), session.file_name()) : std::vector<ProblemLine>();
  for (const FormSection& section : form_sections())
    for (const FormField& field : section.fields) states_[field.key] = field_state(field, *root, lines);
}

bool ScenarioForm::is_shown(const FormField& field, const FieldState& state) const {
  if (!search_.empty()) return contains(field.key, search_) || contains(field.help, search_);
  if (!state.problem.empty() || state.given) return true;
  return state.applies && (all_ || field.common);
}

void ScenarioForm::draw(PanelContext& context) {
  refresh(context.session);
  const Selection& selection = context.session.selection();
  if (selection.setting_changes() != seen_settings_) search_ = selection.setting();
  seen_settings_ = selection.setting_changes();
  const float switch_width =
      ImGui::CalcTextSize("all settings").x + ImGui::GetFrameHeight() + context.theme.scaled(18);
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - switch_width);
  ImGui::InputTextWithHint("##search settings", "Find a setting", &search_);
  ImGui::SameLine();
  ImGui::Checkbox("all settings", &all_);
  if (ImGui::BeginChild("form", {0, 0})) {
    if (!is_yaml_)
      ImGui::TextColored(ImColor(context.theme.fair), "The text cannot be read: correct it first.");
    ImGui::BeginDisabled(!is_yaml_);
    for (const FormSection& section : form_sections()) draw_section(section, context);
    ImGui::EndDisabled();
  }
  ImGui::EndChild();
}

void ScenarioForm::draw_section(const FormSection& section, PanelContext& context) {
  const auto shown = [&](const FormField& field) { return is_shown(field, states_[field.key]); };
  if (std::none_of(section.fields.begin(), section.fields.end(), shown)) return;
  if (!search_.empty()) ImGui::SetNextItemOpen(true);
  ImGui::PushFont(context.theme.fonts.bold, 0);
  ImGui::PushStyleColor(ImGuiCol_Header, context.theme.control);
  const bool open = ImGui::CollapsingHeader(section.name.c_str(), ImGuiTreeNodeFlags_DefaultOpen);
  ImGui::PopStyleColor();
  ImGui::PopFont();
  if (!open || !ImGui::BeginTable("fields", 3, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("setting", ImGuiTableColumnFlags_WidthStretch, 0.46F);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 0.54F);
  ImGui::TableSetupColumn("default", ImGuiTableColumnFlags_WidthFixed, ImGui::GetFrameHeight());
  for (const FormField& field : section.fields)
    if (shown(field)) draw_field(field, states_[field.key], context);
  ImGui::EndTable();
}

void ScenarioForm::draw_field(const FormField& field, const FieldState& state, PanelContext& context) {
  const Theme& theme = context.theme;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::AlignTextToFramePadding();
  const ImU32 colour = !state.problem.empty() ? theme.bad : state.given ? theme.text : theme.dimmed;
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(field.label.c_str());
  ImGui::PopStyleColor();
  tooltip(field, state, theme);
  ImGui::TableNextColumn();
  if (!state.problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Border, theme.bad);
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, theme.scaled(1.5F));
  }
  draw_control(field, state, context);
  if (!state.problem.empty()) {
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  tooltip(field, state, theme);
  ImGui::TableNextColumn();
  if (state.given && ImGui::Button(("x##default " + field.key).c_str(), {-1, 0}))
    context.session.unset(state.key);
  if (state.given)
    ImGui::SetItemTooltip("Back to the default%s%s", field.default_text.empty() ? "" : ": ",
                          field.default_text.c_str());
  if (!state.problem.empty()) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(ImColor(theme.bad), "%s", state.problem.c_str());
    ImGui::PopTextWrapPos();
  }
}

void ScenarioForm::draw_control(const FormField& field, const FieldState& state, PanelContext& context) {
  const std::string label = hidden(field);
  const std::string& shown = state.shown(field);
  switch (field.control) {
    case FieldControl::toggle: {
      bool on = shown == "true";
      if (ImGui::Checkbox(label.c_str(), &on)) context.session.set(state.key, on ? "true" : "false");
      if (!state.given && shown != "true" && shown != "false" && !shown.empty()) {
        ImGui::SameLine();
        ImGui::TextDisabled("%s", shown.c_str());
      }
      return;
    }
    case FieldControl::choice:
      ImGui::SetNextItemWidth(-1);
      if (!state.given) ImGui::PushStyleColor(ImGuiCol_Text, context.theme.dimmed);
      if (begin_combo(label.c_str(), shown.empty() ? "not given" : shown.c_str())) {
        ImGui::PushStyleColor(ImGuiCol_Text, context.theme.text);
        for (const std::string& choice : field.choices)
          if (ImGui::Selectable(choice.c_str(), choice == shown)) context.session.set(state.key, choice);
        ImGui::PopStyleColor();
        ImGui::EndCombo();
      }
      if (!state.given) ImGui::PopStyleColor();
      return;
    case FieldControl::integer: return draw_integer(field, state, context);
    case FieldControl::text: break;
  }
  const bool has_names = !field.choices.empty();
  draw_text(field, state, has_names ? -ImGui::GetFrameHeight() - context.theme.scaled(4) : -1, context);
  if (!has_names) return;
  ImGui::SameLine(0, context.theme.scaled(4));
  if (begin_combo(("##names of " + field.key).c_str(), "", ImGuiComboFlags_NoPreview)) {
    for (const std::string& name : field.choices)
      if (ImGui::Selectable(name.c_str(), name == shown)) context.session.set(state.key, name);
    ImGui::EndCombo();
  }
}

void ScenarioForm::draw_integer(const FormField& field, const FieldState& state, PanelContext& context) {
  const float button = ImGui::GetFrameHeight();
  const float gap = context.theme.scaled(4);
  draw_text(field, state, -2 * (button + gap), context);
  const std::string& shown = state.shown(field);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), number);
  const bool is_number = error == std::errc() && end == shown.data() + shown.size();
  ImGui::SameLine(0, gap);
  ImGui::BeginDisabled(!is_number || number <= field.least);
  if (ImGui::Button(("-##" + field.key).c_str(), {button, 0}))
    context.session.set(state.key, std::to_string(number - 1));
  ImGui::EndDisabled();
  ImGui::SameLine(0, gap);
  ImGui::BeginDisabled(!is_number);
  if (ImGui::Button(("+##" + field.key).c_str(), {button, 0}))
    context.session.set(state.key, std::to_string(number + 1));
  ImGui::EndDisabled();
}

void ScenarioForm::draw_text(const FormField& field, const FieldState& state, float width,
                             PanelContext& context) {
  const bool editing = edited_key_ == field.key;
  std::string text = editing ? edited_text_ : state.given.value_or("");
  ImGui::SetNextItemWidth(width);
  ImGui::InputTextWithHint(hidden(field).c_str(), field.default_text.c_str(), &text);
  if (ImGui::IsItemActive()) {
    edited_key_ = field.key;
    edited_text_ = text;
  }
  if (!ImGui::IsItemDeactivated() || !editing) return;
  edited_key_.clear();
  if (text == state.given.value_or("") || !ImGui::IsItemDeactivatedAfterEdit()) return;
  if (text.empty()) {
    context.session.unset(state.key);
  } else {
    context.session.set(state.key, as_yaml(field, text));
  }
}

}  // namespace shardlab::gui
