// What a step of a lesson shows, as text for a terminal and as HTML with SVG for a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/lessons/lesson.h"
#include "engine/report/terminal.h"
#include "simulator/lessons/lesson_subjects.h"

namespace shardlab::lessons {

// A look with everything found that it names.
struct FoundLook {
  const PredictedSubject* subject = nullptr;  // of the first scenario
  const StepPlan* plan = nullptr;
  const RankTrace* rank = nullptr;
  std::optional<InstructionId> chosen, from, to;
  std::string title;  // "memory of per_layer, a step"
};

// Errors: bad_input named by the look's panel for a scenario, a step, a rank, an instruction or a highlight
// that there is not; what reading and predicting the scenarios say.
Result<FoundLook> find_look(const LookStep& look, const LessonSubjects& subjects);

// Text with its line ends. Errors: those of find_look().
Result<std::string> look_text(const LookStep& look, const LessonSubjects& subjects, const TextStyle& style);

// The same as elements of HTML. Errors: likewise.
Result<std::string> look_html(const LookStep& look, const LessonSubjects& subjects);

// Parts of both: the figures of several scenarios side by side, a stretch of the plan, a peak.
struct NamedSubject {
  std::string name;
  const PredictedSubject* subject = nullptr;
};
std::string compared_text(const std::vector<NamedSubject>& subjects, const TextStyle& style);
std::string plan_text(const FoundLook& found, const TextStyle& style);
std::string fit_text(const FoundLook& found, const TextStyle& style);

}  // namespace shardlab::lessons
