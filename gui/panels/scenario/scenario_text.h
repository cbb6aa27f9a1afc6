// The text side of the scenario panel: an editor, with what is wrong marked at its line and listed below.
#pragma once

#include <TextEditor.h>

#include "gui/session/setting_form.h"
#include "gui/shell/panel.h"

namespace shardlab::gui {

class ScenarioText {
 public:
  ScenarioText();
  void draw(PanelContext& context);

 private:
  void take_document(const Session& session);
  void mark_problems(const Session& session, const Theme& theme);
  void list_problems(const Theme& theme);

  TextEditor editor_;
  bool typed_ = false;  // since the last frame
  std::uint64_t seen_revision_ = 0;
  std::uint64_t seen_documents_ = 0;
  std::string marked_;  // the problem that the markers stand for
  std::vector<ProblemLine> problems_;
};

}  // namespace shardlab::gui
