#include "simulator/lessons/check_lesson.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/unsupported.h"
#include "simulator/lessons/draw_look.h"
#include "simulator/lessons/figure_list.h"
#include "simulator/lessons/walked_lesson.h"

namespace shardlab::lessons {
namespace {

constexpr int k_most_ranks = 2;  // that every machine runs

// Names of functions and scenarios in expressions that are not asked yet.
Status check_names_in(const Expression& expression, const LessonSubjects& subjects) {
  Status status;
  visit_nodes(expression.root, [&](const ExpressionNode& node) {
    if (!status) return;
    const std::vector<std::string> known = figure_names();
    if (node.kind == ExpressionNode::Kind::name)
      status = subjects.named(node.word).map([](const Value&) {});
    else if (node.kind == ExpressionNode::Kind::call &&
             std::find(known.begin(), known.end(), node.word) == known.end())
      status = bad_input({}, fmt::format("unknown function '{}'", node.word));
  });
  if (status) return status;
  Error error = std::move(status).error();
  error.place = expression.place;
  error.what = fmt::format("in '{}': {}", expression.source, error.what);
  return fail(std::move(error));
}

class LessonChecker {
 public:
  explicit LessonChecker(const LessonSubjects& subjects) : subjects_(subjects) {}

  CheckedLesson check() {
    for (const LessonScenario& scenario : subjects_.lesson().scenarios) check_scenario(scenario);
    for (const LessonStep& step : subjects_.lesson().steps) check_step(step);
    return std::move(checked_);
  }

 private:
  void problem(Error error, const Place& place) {
    // What a setting says is placed at the setting, which the lesson laid upon its scenario.
    if (error.place.file.empty() || error.place.file.starts_with("--set ")) {
      const std::string inner = to_string(error.place);
      if (!inner.empty()) error.what = inner + ": " + error.what;
      error.place = place;
    }
    checked_.problems.push_back(std::move(error));
  }

  void check_scenario(const LessonScenario& scenario) {
    const auto predicted = subjects_.predicted(scenario.name);
    if (!predicted && !scenario.refused) problem(predicted.error(), scenario.place);
    if (predicted && scenario.refused)
      problem(
          bad_input({}, fmt::format("the scenario {} is to be refused, and is not", scenario.name)).value(),
          scenario.place);
  }

  void check_step(const LessonStep& step) {
    if (const auto walked = walk_step(step, subjects_); !walked) {
      problem(walked.error(), step.place);
      return;
    }
    std::visit([&](const auto& kind) { check_kind(kind, step); }, step.kind);
    if (!step.show) return;
    if (const auto shown = find_look(*step.show, subjects_); !shown) problem(shown.error(), step.place);
  }

  void count(const LessonText& text) {
    checked_.expressions +=
        static_cast<int>(std::count_if(text.pieces.begin(), text.pieces.end(),
                                       [](const TextPiece& piece) { return piece.figure.has_value(); }));
  }

  void check_kind(const TextStep& text, const LessonStep&) { count(text.text); }
  void check_kind(const RevealStep& reveal, const LessonStep&) { count(reveal.text); }

  void check_kind(const LookStep& look, const LessonStep& step) {
    count(look.say);
    ++checked_.pictures;
    const auto text = look_text(look, subjects_, {80, false});
    if (!text) problem(text.error(), step.place);
    const auto html = look_html(look, subjects_);
    if (text && !html) problem(html.error(), step.place);
  }

  void check_kind(const AskStep& ask, const LessonStep& step) {
    count(ask.question);
    ++checked_.questions;
    if (const auto* choose = std::get_if<ChooseQuestion>(&ask.kind))
      checked_.expressions += static_cast<int>(choose->options.size());
    else
      ++checked_.expressions;
    if (const auto* change = std::get_if<ChangeQuestion>(&ask.kind)) check_change(*change, step.place);
  }

  void check_change(const ChangeQuestion& change, const Place& place) {
    const auto reached = [&](const std::vector<std::string>& settings) {
      return subjects_.reaches(change.scenario, settings, change.until);
    };
    const Result<bool> before = reached({}), after = reached(change.solution);
    if (!before) return problem(before.error(), place);
    if (*before) problem(bad_input({}, "the change's goal is reached without any change").value(), place);
    if (!after) return problem(after.error(), place);
    if (!*after)
      problem(bad_input({}, fmt::format("the solution does not reach the goal '{}'", change.until.source))
                  .value(),
              place);
    for (const WrongChange& wrong : change.wrong) {
      const Result<bool> holds = reached(wrong.settings);
      if (holds && *holds) problem(bad_input({}, "this wrong change reaches the goal").value(), wrong.place);
    }
  }

  void check_kind(const RunStep& run, const LessonStep& step) {
    count(run.say);
    count(run.after);
    ++checked_.runs;
    checked_.expressions += static_cast<int>(run.holds.size());
    if (const Status can = check_can_run(run, subjects_); !can) problem(can.error(), step.place);
    for (const Expression& each : run.holds) {
      if (const Status known = check_names_in(each, subjects_); !known) problem(known.error(), step.place);
    }
    for (const TextPiece& piece : run.after.pieces) {
      if (!piece.figure) continue;
      if (const Status known = check_names_in(piece.figure->expression, subjects_); !known)
        problem(known.error(), step.place);
    }
  }

  void check_kind(const TryStep& free, const LessonStep& step) {
    count(free.say);
    const auto changed = subjects_.predicted_with(free.scenario, free.settings);
    if (!changed) problem(changed.error(), step.place);
  }

  const LessonSubjects& subjects_;
  CheckedLesson checked_;
};

}  // namespace

CheckedLesson check_lesson(const LessonSubjects& subjects) {
  return LessonChecker(subjects).check();
}

std::vector<Error> check_run(const RunStep& run, const LessonSubjects& subjects) {
  std::vector<Error> problems;
  for (const Expression& each : run.holds) {
    const Result<bool> holds = evaluate_truth(each, subjects);
    if (!holds) problems.push_back(holds.error());
    if (holds && !*holds)
      problems.push_back({ErrorKind::run_failed,
                          each.place,
                          fmt::format("'{}' does not hold in a real run", each.source),
                          {}});
  }
  if (const auto after = filled(run.after, subjects); !after) problems.push_back(after.error());
  return problems;
}

Status check_can_run(const RunStep& run, const LessonSubjects& subjects) {
  SHARDLAB_TRY(const PredictedSubject* subject, subjects.predicted(run.scenario));
  const Scenario& scenario = subject->planned.scenario;
  if (scenario.cluster->device != DeviceKind::cpu || world_size(scenario) > k_most_ranks)
    return bad_input(
        {}, fmt::format("{} is no scenario for {} processes on processors", run.scenario, k_most_ranks),
        "cluster: {device: cpu, ranks: 2}");
  if (scenario.train->data.empty())
    return bad_input({}, fmt::format("{} has no data to train on", run.scenario),
                     "train.data: assets/data/licenses.txt");
  return check_runs(scenario);
}

}  // namespace shardlab::lessons
