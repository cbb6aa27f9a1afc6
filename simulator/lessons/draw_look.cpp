#include "simulator/lessons/draw_look.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/lessons/markdown.h"
#include "engine/pictures/memory_picture.h"
#include "engine/pictures/rank_moves.h"
#include "engine/pictures/timeline_picture.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab::lessons {
namespace {

constexpr std::size_t k_columns_on_page = 260;

MemoryPicture memory_of(const FoundLook& found, std::size_t columns) {
  return memory_picture(*found.plan, *found.rank,
                        {columns, {}, found.subject->summary.memory_limit, found.chosen});
}

TimelinePicture timeline_of(const FoundLook& found) {
  return timeline_picture(*found.plan, *found.rank, {found.from, found.to, found.chosen});
}

// What is left of the width beside axes and names.
int picture_columns(const TextStyle& style, int margin) {
  return std::clamp(style.width - margin, 24, 120);
}

Result<std::string> compared(const LookStep& look, const LessonSubjects& subjects, const TextStyle& style) {
  std::vector<NamedSubject> named;
  for (const std::string& name : look.scenarios) {
    SHARDLAB_TRY(const PredictedSubject* subject, subjects.predicted(name));
    named.push_back({name, subject});
  }
  return compared_text(named, style);
}

std::string in_pre(const std::string& text) {
  return "<pre>" + escaped_html(text) + "</pre>\n";
}

}  // namespace

Result<std::string> look_text(const LookStep& look, const LessonSubjects& subjects, const TextStyle& style) {
  SHARDLAB_TRY(const FoundLook found, find_look(look, subjects));
  const Scenario& scenario = found.subject->planned.scenario;
  switch (look.panel) {
    case LookPanel::memory:
      return memory_text(memory_of(found, static_cast<std::size_t>(picture_columns(style, 14))));
    case LookPanel::timeline: return timeline_text(timeline_of(found), picture_columns(style, 24));
    case LookPanel::plan: return plan_text(found, style);
    case LookPanel::player: return rank_moves_text(*found.plan, *found.chosen, scenario);
    case LookPanel::fit: return fit_text(found, style);
    case LookPanel::compare: return compared(look, subjects, style);
    case LookPanel::scenario: break;
  }
  return write_scenario(scenario);
}

Result<std::string> look_html(const LookStep& look, const LessonSubjects& subjects) {
  SHARDLAB_TRY(const FoundLook found, find_look(look, subjects));
  const TextStyle wide{100, false};
  switch (look.panel) {
    case LookPanel::memory: return memory_svg(memory_of(found, k_columns_on_page), found.title);
    case LookPanel::timeline: return timeline_svg(*found.plan, timeline_of(found), found.title);
    case LookPanel::player:
      return rank_moves_svg(*found.plan, *found.chosen, found.subject->planned.scenario,
                            instruction_label(*found.plan, *found.chosen));
    case LookPanel::plan: return in_pre(plan_text(found, wide));
    case LookPanel::fit: return in_pre(fit_text(found, wide));
    case LookPanel::compare: {
      SHARDLAB_TRY(const std::string text, compared(look, subjects, wide));
      return in_pre(text);
    }
    case LookPanel::scenario: break;
  }
  return in_pre(write_scenario(found.subject->planned.scenario));
}

}  // namespace shardlab::lessons
