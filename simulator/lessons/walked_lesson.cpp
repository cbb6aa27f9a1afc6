#include "simulator/lessons/walked_lesson.h"

namespace shardlab::lessons {
namespace {

struct StepWalker {
  const LessonStep& step;
  const LessonSubjects& subjects;
  WalkedStep walked{};

  Status take(StepKind kind, const LessonText& text) {
    walked.kind = kind;
    SHARDLAB_TRY(walked.text, filled(text, subjects));
    return {};
  }
  Status operator()(const TextStep& text) { return take(StepKind::text, text.text); }
  Status operator()(const RevealStep& reveal) { return take(StepKind::reveal, reveal.text); }
  Status operator()(const LookStep& look) {
    walked.look = &look;
    return take(StepKind::look, look.say);
  }
  Status operator()(const RunStep& run) {
    walked.run = &run;
    return take(StepKind::run, run.say);
  }
  Status operator()(const TryStep& free) {
    walked.free = &free;
    return take(StepKind::free, free.say);
  }
  Status operator()(const AskStep& ask) {
    walked.kind = StepKind::ask;
    SHARDLAB_TRY(walked.ask, work_question(ask, step.place, subjects));
    walked.text = walked.ask.question;
    return {};
  }
};

}  // namespace

Result<WalkedStep> walk_step(const LessonStep& step, const LessonSubjects& subjects) {
  StepWalker walker{step, subjects};
  if (step.show) walker.walked.show = &*step.show;
  SHARDLAB_CHECK_OK(std::visit(walker, step.kind));
  return std::move(walker.walked);
}

}  // namespace shardlab::lessons
