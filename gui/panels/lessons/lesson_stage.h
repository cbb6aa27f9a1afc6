// What a lesson shows in the other panels: its scenario opened, an instruction and a time chosen, the panel
// brought to the front.
//
// Opening a scenario predicts it, so this takes several frames: update() goes on with it.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "gui/shell/panel.h"
#include "gui/view_model/lessons/step_page.h"

namespace shardlab::gui {

class LessonStage {
 public:
  // What was being shown is given up.
  void show(const view::LookPage& look);
  // The scenarios of a comparison side by side, this one of them open, with the first as its baseline.
  void show_beside_first(const view::LookPage& look, const view::LessonScene& scene);
  // With its prediction as the baseline, so that what is changed has an effect to be seen.
  void show_for_changes(const view::LessonScene& scene);
  void show(const view::LessonScene& scene);
  // Brings the panel to the front when what is being shown is there.
  void then_show_panel(std::string panel);
  // Edits the scene to this text, as one edit; opens it first where it is not open.
  void change(const view::LessonScene& scene, std::string text, std::string what, Session& session);
  void clear();
  // Nothing more is shown; a baseline that the lesson set is gone.
  void leave(Session& session);

  void update(PanelContext& context);
  bool busy() const { return !acts_.empty() && !waits_; }

  // Whether edits that are not saved stand in the way: a scenario of somebody's own is not dropped unasked.
  bool waits() const { return waits_; }
  void drop_edits() { may_drop_ = true; }

  // Whether what is open was opened for another lesson than this scenario's.
  bool shows_other_lesson(const view::LessonScene& scene, const Session& session) const;
  // Whether the lesson opened what is open.
  bool is_open(const view::LessonScene& scene, const Session& session) const;

 private:
  // True when it is done; else it is asked again in the next frame.
  using Act = std::function<bool(PanelContext&)>;

  void open(const view::LessonScene& scene);
  void choose(const view::LookPage& look);
  bool open_now(const view::LessonScene& scene, Session& session);

  std::deque<Act> acts_;
  std::uint64_t opened_ = 0;  // the session's count when the lesson opened a document; 0: it opened none
  bool opening_ = false;      // the first act has opened its scenario
  bool waits_ = false, may_drop_ = false;
  bool has_baseline_ = false;  // that the lesson set
};

// The panel of the window for what a look shows.
std::string panel_of(lessons::LookPanel panel);

}  // namespace shardlab::gui
