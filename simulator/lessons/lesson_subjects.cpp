#include "simulator/lessons/lesson_subjects.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/lessons/figure_function.h"
#include "simulator/lessons/figure_list.h"
#include "simulator/simulate.h"

namespace shardlab::lessons {
namespace {

constexpr const char* k_changed = "changed";
constexpr const char* k_run = "run";

Result<PredictedSubject> predict_subject(const std::string& file, const std::vector<std::string>& settings) {
  SHARDLAB_TRY(ReadScenario read, read_scenario_with_source(file, settings));
  SHARDLAB_TRY(PlannedScenario planned, plan_scenario(read.scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
  SHARDLAB_TRY(RunTrace trace, simulate({planned, device}));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  SHARDLAB_TRY(RunSummary summary, summarize(planned, trace, limits));
  return PredictedSubject{std::move(read.source), std::move(planned), std::move(trace), std::move(summary)};
}

Result<Value> call_figure(const FigureFunction& function, const FigureSubject& subject,
                          const std::vector<Value>& arguments) {
  const std::vector<Value> rest(arguments.begin() + 1, arguments.end());
  const int count = static_cast<int>(rest.size());
  if (count < function.least || count > function.most)
    return bad_input({},
                     fmt::format("{} is written {}({})", function.name, function.name, function.arguments));
  return function.value(subject, rest);
}

}  // namespace

Result<const PredictedSubject*> PredictionCache::predicted(const std::string& file,
                                                           const std::vector<std::string>& settings) {
  std::vector<std::string> key = settings;
  key.push_back(file);
  auto found = kept_.find(key);
  if (found == kept_.end())
    found =
        kept_.emplace(key, std::make_shared<const Result<PredictedSubject>>(predict_subject(file, settings)))
            .first;
  const Result<PredictedSubject>& kept = *found->second;
  if (!kept) return fail(kept.error());
  return &*kept;
}

Result<const PredictedSubject*> LessonSubjects::predicted_with(
    const std::string& name, const std::vector<std::string>& settings) const {
  if (name == k_changed && change_) {
    std::vector<std::string> all = change_->settings;
    all.insert(all.end(), settings.begin(), settings.end());
    return predicted_with(change_->scenario, all);
  }
  const LessonScenario* const scenario = lesson_.find_scenario(name);
  if (scenario == nullptr) {
    std::vector<std::string> known;
    for (const LessonScenario& each : lesson_.scenarios) known.push_back(each.name);
    return bad_input({}, fmt::format("there is no scenario '{}'", name), suggestion(name, known));
  }
  std::vector<std::string> all = scenario->settings;
  all.insert(all.end(), settings.begin(), settings.end());
  return cache_.predicted((lesson_.folder / scenario->file).string(), all);
}

Result<const PredictedSubject*> LessonSubjects::predicted(const std::string& name) const {
  return predicted_with(name, {});
}

void LessonSubjects::take_run(const std::string& name, MeasuredSubject run) {
  runs_.insert_or_assign(name, std::move(run));
}

Result<bool> LessonSubjects::reaches(const std::string& scenario, const std::vector<std::string>& settings,
                                     const Expression& until) const {
  LessonSubjects trial(lesson_, cache_);
  trial.change_ = Change{scenario, settings};
  SHARDLAB_CHECK_OK(trial.predicted(k_changed));  // its own words say what the scenario does not allow
  return evaluate_truth(until, trial);
}

Result<Value> LessonSubjects::named(const std::string& name) const {
  if (name == k_changed && change_) return Value{ValueKind::scenario, 0, name};
  for (const Assumption& assumption : lesson_.assumptions) {
    if (assumption.name == name) return assumption.value;
  }
  if (lesson_.find_scenario(name) != nullptr) return Value{ValueKind::scenario, 0, name};
  std::vector<std::string> known;
  for (const LessonScenario& each : lesson_.scenarios) known.push_back(each.name);
  for (const Assumption& each : lesson_.assumptions) known.push_back(each.name);
  return bad_input({}, fmt::format("the lesson has no '{}'", name), suggestion(name, known));
}

Result<Value> LessonSubjects::called(const std::string& function, const std::vector<Value>& arguments) const {
  if (function == k_run) {
    if (arguments.size() != 1 || arguments[0].kind != ValueKind::scenario)
      return bad_input({}, "run takes the name of a scenario");
    return Value{ValueKind::run, 0, arguments[0].text};
  }
  const FigureFunction* const known = find_figure(function);
  if (known == nullptr) {
    std::vector<std::string> names = figure_names();
    return bad_input({}, fmt::format("unknown function '{}'", function), suggestion(function, names));
  }
  const bool of_run = !arguments.empty() && arguments[0].kind == ValueKind::run;
  if (!of_run && (arguments.empty() || arguments[0].kind != ValueKind::scenario))
    return bad_input({},
                     fmt::format("{} is asked of a scenario: {}({})", function, function, known->arguments));
  const std::string& name = arguments[0].text;
  const Result<const PredictedSubject*> predicted_now = predicted(name);
  if (!predicted_now) {
    // What a scenario is refused with is a figure too.
    const FigureSubject refused{nullptr, nullptr, nullptr, nullptr, &predicted_now.error()};
    return known->of_refused ? call_figure(*known, refused, arguments)
                             : Result<Value>(fail(predicted_now.error()));
  }
  const PredictedSubject& subject = **predicted_now;
  if (!of_run)
    return call_figure(*known, {&subject.planned, &subject.trace, &subject.summary, nullptr, nullptr},
                       arguments);
  const auto run = runs_.find(name);
  if (run == runs_.end())
    return not_possible({}, fmt::format("{} was not run for real", name), "a step `run` before does it");
  return call_figure(
      *known, {&subject.planned, &run->second.trace, &run->second.summary, &run->second.comparison, nullptr},
      arguments);
}

}  // namespace shardlab::lessons
