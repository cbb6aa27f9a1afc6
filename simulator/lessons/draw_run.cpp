#include "simulator/lessons/draw_run.h"

#include <fmt/format.h>

namespace shardlab::lessons {
namespace {

std::string shown_figure(const std::string& expression, const LessonSubjects& subjects) {
  const auto parsed = parse_expression(expression, {});
  const auto value = parsed ? evaluate(*parsed, subjects) : Result<Value>(fail(parsed.error()));
  const auto text = value ? shown(*value) : Result<std::string>(fail(value.error()));
  return text.value_or("-");
}

}  // namespace

std::string figures_of_run(const RunStep& run, const LessonSubjects& subjects) {
  const std::string& a = run.scenario;
  std::string text = fmt::format("  {:<22}{:>11}{:>11}\n", "", "predicted", "measured");
  const auto row = [&](const char* name, const char* function) {
    text += fmt::format("  {:<22}{:>11}{:>11}\n", name,
                        shown_figure(fmt::format("{}({})", function, a), subjects),
                        shown_figure(fmt::format("{}(run({}))", function, a), subjects));
  };
  row("peak of live tensors", "peak_allocated");
  row("all ranks send", "sent");
  row("step time", "step_time");
  text += fmt::format("  live memory equal to the byte\n    at {} of {} moments\n  loss from {} to {}\n",
                      shown_figure(fmt::format("equal_moments(run({}))", a), subjects),
                      shown_figure(fmt::format("moments(run({}))", a), subjects),
                      shown_figure(fmt::format("first_loss(run({}))", a), subjects),
                      shown_figure(fmt::format("last_loss(run({}))", a), subjects));
  return text;
}

}  // namespace shardlab::lessons
