// The form side of the scenario panel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gui/session/setting_form.h"
#include "gui/shell/panel.h"

namespace shardlab::gui {

class ScenarioForm {
 public:
  void draw(PanelContext& context);

 private:
  void refresh(const Session& session);
  void draw_section(const FormSection& section, PanelContext& context);
  void draw_field(const FormField& field, const FieldState& state, PanelContext& context);
  void draw_control(const FormField& field, const FieldState& state, PanelContext& context);
  void draw_integer(const FormField& field, const FieldState& state, PanelContext& context);
  void draw_text(const FormField& field, const FieldState& state, float width, PanelContext& context);
  bool is_shown(const FormField& field, const FieldState& state) const;

  std::string search_;
  std::uint64_t seen_settings_ = 0;  // choices of a setting in other panels
  bool all_ = false;
  std::uint64_t read_opened_ = 0, read_revision_ = 0;  // of the document
  std::string read_problem_;                           // for which the states were made
  bool is_yaml_ = true;
  std::map<std::string, FieldState> states_;  // by key
  std::string edited_key_;                    // whose text is being typed
  std::string edited_text_;
};

}  // namespace shardlab::gui
