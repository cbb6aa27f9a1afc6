// A step of a lesson with everything that the window shows of it, reckoned: texts, questions, scenarios.
//
// Plain values; making one plans and predicts what the step speaks of, which may take seconds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/lessons/lesson.h"
#include "engine/lessons/markdown.h"
#include "engine/plan/step_plan.h"
#include "gui/view_model/loaded_run.h"
#include "simulator/lessons/walked_lesson.h"

namespace shardlab::view {

using MarkdownText = std::vector<lessons::MarkdownBlock>;

// A scenario of a lesson as it is opened: under a name of its own, so that saving what somebody tried leaves
// the lesson as it is.
struct LessonScene {
  std::string name;  // in the lesson
  std::string text;
  std::filesystem::path file;
  std::string plan_hash;  // of its steady step
  LoadedRunPtr run{};     // as the lesson predicts it, called as the lesson calls it; of compared scenarios
};

struct LookPage {
  lessons::LookPanel panel = lessons::LookPanel::memory;
  PlanPhase step = PlanPhase::steady;
  int rank = 0;
  std::string highlight;  // a class of buffer or a stream; empty: none
  std::vector<LessonScene> scenes;
  std::optional<InstructionId> chosen, from, to;  // in the plan of that step of the first scene
  std::string picture;  // as text, for a font of one width; empty beside a step of another kind
};

struct QuestionPage {
  std::vector<MarkdownText> choices;  // what is chosen from or put in order; else empty
  bool is_choice = false;             // one of them is the answer
  std::string form;                   // what may be typed: "a number, as in 0.5 or 50 %"
  MarkdownText answer;                // the right one
  std::optional<LessonScene> scene;   // whose instruction or whose settings are asked for
  bool is_instruction = false;
};

struct RunPage {
  LessonScene scene;
  std::string command;  // that trains it in a terminal
};

struct TryPage {
  LessonScene scene;
  std::vector<std::string> settings;  // that are proposed, key=value
  std::string effect;                 // before and after, a table for a font of one width
};

struct StepPage {
  int step = 0;  // from 1
  lessons::StepKind kind = lessons::StepKind::text;
  MarkdownText text;
  std::optional<LookPage> look, show;  // of a look; beside a step of another kind
  std::optional<QuestionPage> question;
  std::optional<RunPage> run;
  std::optional<TryPage> free;
  // The first scenario of the lesson, for a step that shows none of its own; absent where there is none.
  std::optional<LessonScene> subject;

  // Null for a step that shows nothing in a panel.
  const LookPage* shown() const { return look ? &*look : show ? &*show : nullptr; }
  bool shows_scenario() const { return look || show || run || free || (question && question->scene); }
};

// `walked` is the step of that number, from 1. Errors: those of find_look() and of the scenarios it opens.
Result<StepPage> make_step_page(int step, const lessons::WalkedStep& walked,
                                const lessons::LessonSubjects& subjects);

// The scenario with settings beside what it is without: a table of text. Errors: what it does not allow.
Result<std::string> effect_of_settings(const std::string& scenario, const std::vector<std::string>& settings,
                                       const lessons::LessonSubjects& subjects);

}  // namespace shardlab::view
