#include "engine/cli/lessons/lesson_runs.h"

#include <fmt/format.h>

#include "engine/cli/measure.h"
#include "engine/trace/comparison.h"
#include "simulator/lessons/check_lesson.h"

namespace shardlab {
namespace {

std::string figure_of(const std::string& expression, const lessons::LessonSubjects& subjects) {
  const auto parsed = lessons::parse_expression(expression, {});
  const auto value =
      parsed ? lessons::evaluate(*parsed, subjects) : Result<lessons::Value>(fail(parsed.error()));
  const auto text = value ? lessons::shown(*value) : Result<std::string>(fail(value.error()));
  return text.value_or("-");
}

}  // namespace

Status run_for_lesson(const lessons::RunStep& run, lessons::LessonSubjects& subjects, RunStore& store,
                      Console& console) {
  SHARDLAB_CHECK_OK(lessons::check_can_run(run, subjects));
  SHARDLAB_TRY(const lessons::PredictedSubject* predicted, subjects.predicted(run.scenario));
  SHARDLAB_CHECK_OK(check_inputs(predicted->planned, {}));
  SHARDLAB_TRY(std::optional<FinishedRun> measured, measure(predicted->planned, {}, store, console));
  if (!measured) return internal_error("lesson", "a rank without a team");
  SHARDLAB_TRY(Comparison comparison,
               compare(predicted->planned.plan.steady, {predicted->summary, predicted->trace},
                       {measured->summary, measured->trace}, {}));
  subjects.take_run(run.scenario,
                    {std::move(measured->trace), std::move(measured->summary), std::move(comparison)});
  return {};
}

std::string run_of_lesson_text(const lessons::RunStep& run, const lessons::LessonSubjects& subjects) {
  const std::string& a = run.scenario;
  std::string text = fmt::format("  {:<24}{:>12}{:>12}\n", "", "predicted", "measured");
  const auto row = [&](const char* name, const char* function) {
    text +=
        fmt::format("  {:<24}{:>12}{:>12}\n", name, figure_of(fmt::format("{}({})", function, a), subjects),
                    figure_of(fmt::format("{}(run({}))", function, a), subjects));
  };
  row("peak of live tensors", "peak_allocated");
  row("all ranks send", "sent");
  row("step time", "step_time");
  text += fmt::format("  live memory equal to the byte at {} of {} moments; loss from {} to {}\n",
                      figure_of(fmt::format("equal_moments(run({}))", a), subjects),
                      figure_of(fmt::format("moments(run({}))", a), subjects),
                      figure_of(fmt::format("first_loss(run({}))", a), subjects),
                      figure_of(fmt::format("last_loss(run({}))", a), subjects));
  return text;
}

}  // namespace shardlab
