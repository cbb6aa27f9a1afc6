// A lesson step by step, as text: shown, asked, answered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/cli/console.h"
#include "engine/cli/lessons/open_lesson.h"
#include "engine/store/run_store.h"

namespace shardlab {

// What somebody is asked for: to go on, or the answer to a question.
struct LessonPrompt {
  std::string text;
  int question = 0;  // of the lesson, from 1; 0: none
  int attempt = 0;   // likewise
};

// Who answers. Nothing: there is no answer, or nobody any more.
using LessonInput = std::function<std::optional<std::string>(const LessonPrompt&)>;

struct LessonWalk {
  OpenLesson& open;
  Console& console;
  RunStore* store = nullptr;  // where answers, progress and runs are kept; null: nowhere, and nothing is run
  LessonInput input;
  bool waits = true;  // for Enter behind each step; else goes on, and tells the answer where there is none
  bool real = false;  // runs what the lesson runs without asking
};

// From step `first` (from 1) to the end, or to where somebody leaves. Says how many questions were answered
// right at the first attempt. Trouble with a step (a run that fails, progress that cannot be kept) is told
// and the lesson goes on. Errors: what the lesson's expressions say.
Status walk_lesson(const LessonWalk& walk, int first);

// Answers from a file: a list of texts in YAML, one a question in their order; a list in it are attempts.
// Errors: bad_input with the place.
Result<std::vector<std::vector<std::string>>> read_answers(const std::string& file);

}  // namespace shardlab
