#include "gui/panels/lessons/lesson_stage.h"

#include <utility>

#include "engine/pictures/timeline_picture.h"

namespace shardlab::gui {
namespace {

// The part of the step from one instruction to another, on the clock of this prediction.
std::optional<TimeRange> time_of(const view::LookPage& look, const Prediction& prediction) {
  const std::vector<StepTrace>& steps = prediction.run->record.trace.steps;
  const bool is_part = look.from || look.to;
  if (!is_part || steps.empty() || steps.front().ranks.empty()) return std::nullopt;
  const TimelinePicture part =
      timeline_picture(prediction.plan(), steps.front().ranks.front(), {look.from, look.to, look.chosen});
  return TimeRange{part.begin, part.end};
}

void choose_now(const view::LookPage& look, Session& session) {
  const std::optional<InstructionId> chosen = look.chosen ? look.chosen : look.from;
  session.selection().choose_step({look.step, chosen});
  session.selection().show_highlight(look.highlight);
  // The shared choice and the shared time speak of the steady step.
  if (look.step != PlanPhase::steady) return;
  session.selection().show_time(time_of(look, *session.prediction()));
  if (chosen) session.choose(*chosen);
}

}  // namespace

std::string panel_of(lessons::LookPanel panel) {
  return std::string(to_string(panel));  // the window's panels have the same names
}

void LessonStage::clear() {
  acts_.clear();
  opening_ = waits_ = may_drop_ = false;
}

void LessonStage::leave(Session& session) {
  clear();
  session.selection().show_highlight({});
  if (std::exchange(has_baseline_, false)) session.clear_baseline();
  session.lay_side_by_side({});
}

void LessonStage::show(const view::LookPage& look) {
  if (look.scenes.size() > 1) return show_beside_first(look, look.scenes.back());
  show(look.scenes.front());
  choose(look);
  // What is added up in Fit is drawn over the step in Memory.
  if (look.panel == lessons::LookPanel::fit) then_show_panel("memory");
  then_show_panel(panel_of(look.panel));
}

void LessonStage::show_beside_first(const view::LookPage& look, const view::LessonScene& scene) {
  show_for_changes(look.scenes.front());
  open(scene);
  std::vector<view::LoadedRunPtr> runs;
  for (const view::LessonScene& each : look.scenes) runs.push_back(each.run);
  acts_.push_back([runs = std::move(runs)](PanelContext& context) {
    context.session.lay_side_by_side(runs);
    return true;
  });
  then_show_panel(panel_of(look.panel));
}

void LessonStage::show_for_changes(const view::LessonScene& scene) {
  clear();
  open(scene);
  acts_.push_back([this](PanelContext& context) {
    context.session.lay_side_by_side({});
    context.session.set_baseline();
    has_baseline_ = true;
    return true;
  });
}

void LessonStage::show(const view::LessonScene& scene) {
  clear();
  open(scene);
  acts_.push_back([this](PanelContext& context) {
    context.session.lay_side_by_side({});
    // A baseline of somebody's own stays.
    if (std::exchange(has_baseline_, false)) context.session.clear_baseline();
    return true;
  });
}

void LessonStage::change(const view::LessonScene& scene, std::string text, std::string what,
                         Session& session) {
  if (is_open(scene, session)) return session.edit_text(std::move(text), std::move(what));
  show_for_changes(scene);
  acts_.push_back([text = std::move(text), what = std::move(what)](PanelContext& context) {
    context.session.edit_text(text, what);
    return true;
  });
}

void LessonStage::open(const view::LessonScene& scene) {
  acts_.push_back([this, scene](PanelContext& context) { return open_now(scene, context.session); });
}

bool LessonStage::shows_other_lesson(const view::LessonScene& scene, const Session& session) const {
  return opened_ > 0 && session.documents_opened() == opened_ &&
         session.document().file().parent_path() != scene.file.parent_path();
}

bool LessonStage::is_open(const view::LessonScene& scene, const Session& session) const {
  return session.documents_opened() > 0 && session.documents_opened() == opened_ &&
         session.document().file() == scene.file;
}

bool LessonStage::open_now(const view::LessonScene& scene, Session& session) {
  if (!opening_) {
    // What was shown of another scenario is no part of this one.
    session.selection().show_highlight({});
    const bool is_own = session.documents_opened() != opened_;
    waits_ = is_own && session.document().changed() && !may_drop_;
    if (waits_) return false;
    if (!is_open(scene, session) || session.document().text() != scene.text) {
      session.open_text(scene.text, scene.file);
      session.selection().show_time(std::nullopt);
      opened_ = session.documents_opened();
    }
    opening_ = true;
  }
  if (session.predicting()) return false;
  opening_ = false;
  return true;
}

void LessonStage::choose(const view::LookPage& look) {
  acts_.push_back([look](PanelContext& context) {
    const auto& prediction = context.session.prediction();
    if (prediction && prediction->summary().plan_hash == look.scenes.front().plan_hash)
      choose_now(look, context.session);
    return true;
  });
}

void LessonStage::then_show_panel(std::string panel) {
  acts_.push_back([panel = std::move(panel)](PanelContext& context) {
    context.to_front.push_back(panel);
    return true;
  });
}

void LessonStage::update(PanelContext& context) {
  while (!acts_.empty() && acts_.front()(context)) {
    if (!acts_.empty()) acts_.pop_front();
  }
}

}  // namespace shardlab::gui
