// A step of a lesson with its texts filled in: what the terminal, a page and the window show of it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/lessons/worked_step.h"
#include "simulator/lessons/lesson_subjects.h"

namespace shardlab::lessons {

enum class StepKind : std::uint8_t { text, look, ask, reveal, run, free };

struct WalkedStep {
  StepKind kind = StepKind::text;
  std::string text;                // Markdown: of a look or a run what is said of it
  const LookStep* look = nullptr;  // of a look
  const LookStep* show = nullptr;  // what the window shows beside a step of another kind
  const RunStep* run = nullptr;    // of a run
  const TryStep* free = nullptr;   // of a try
  WorkedAsk ask;                   // of a question
};

// Errors: whatever its expressions say, at their places.
Result<WalkedStep> walk_step(const LessonStep& step, const LessonSubjects& subjects);

}  // namespace shardlab::lessons

namespace shardlab {
template <>
inline constexpr auto k_words<lessons::StepKind> =
    std::to_array<Word<lessons::StepKind>>({{lessons::StepKind::text, "text"},
                                            {lessons::StepKind::look, "look"},
                                            {lessons::StepKind::ask, "ask"},
                                            {lessons::StepKind::reveal, "reveal"},
                                            {lessons::StepKind::run, "run"},
                                            {lessons::StepKind::free, "try"}});
}  // namespace shardlab
