#include "gui/view_model/lessons/step_page.h"

#include "engine/base/input_file.h"
#include "engine/lessons/judge_answer.h"
#include "engine/scenario/apply_settings.h"
#include "simulator/lessons/draw_look.h"

namespace shardlab::view {
namespace {

// As many columns as the panel has in the default layout of a window of 1440 pixels.
constexpr TextStyle k_in_panel{46, false};

Result<LessonScene> scene_of(const std::string& name, const lessons::LessonSubjects& subjects) {
  SHARDLAB_TRY(const lessons::PredictedSubject* subject, subjects.predicted(name));
  const lessons::Lesson& lesson = subjects.lesson();
  const lessons::LessonScenario& scenario = *lesson.find_scenario(name);
  const std::filesystem::path file = lesson.folder / scenario.file;
  LessonScene scene{.name = name,
                    .text = {},
                    .file = file.parent_path() / (file.stem().string() + "-" + name + ".yaml"),
                    .plan_hash = subject->summary.plan_hash};
  // As it was written, with its words and comments, and what the lesson lays upon it.
  SHARDLAB_TRY(scene.text, read_input_file(file, k_scenario_file));
  if (!scenario.settings.empty()) {
    SHARDLAB_TRY(scene.text, apply_settings(scene.text, file.string(), scenario.settings));
  }
  return scene;
}

// The lesson's own prediction: what it says of its scenarios is what the window says of them, whatever
// calibration the window predicts with.
LoadedRunPtr run_of(const LessonScene& scene, const lessons::PredictedSubject& subject) {
  LoadedRun run{.record = {}, .called = scene.name};
  run.record.name = subject.planned.scenario.name;
  run.record.scenario_yaml = scene.text;
  run.record.plan = subject.planned.plan;
  run.record.trace = subject.trace;
  run.record.summary = subject.summary;
  return std::make_shared<const LoadedRun>(std::move(run));
}

Result<LookPage> look_page(const lessons::LookStep& look, const lessons::LessonSubjects& subjects) {
  SHARDLAB_TRY(const lessons::FoundLook found, find_look(look, subjects));
  LookPage page{.panel = look.panel,
                .step = found.plan->phase,
                .rank = look.rank,
                .highlight = look.highlight,
                .scenes = {},
                .chosen = found.chosen,
                .from = found.from,
                .to = found.to,
                .picture = {}};
  for (const std::string& name : look.scenarios) {
    SHARDLAB_TRY(LessonScene scene, scene_of(name, subjects));
    if (look.scenarios.size() > 1) {
      SHARDLAB_TRY(const lessons::PredictedSubject* subject, subjects.predicted(name));
      scene.run = run_of(scene, *subject);
    }
    page.scenes.push_back(std::move(scene));
  }
  return page;
}

Result<QuestionPage> question_page(const lessons::WorkedAsk& ask, const lessons::LessonSubjects& subjects) {
  QuestionPage page;
  page.form = lessons::answer_form(ask);
  page.answer = lessons::parse_markdown(lessons::right_answer_words(ask));
  if (const auto* choose = std::get_if<lessons::WorkedChoose>(&ask.kind)) {
    page.is_choice = true;
    for (const lessons::WorkedOption& option : choose->options)
      page.choices.push_back(lessons::parse_markdown(option.answer));
  }
  if (const auto* order = std::get_if<lessons::WorkedOrder>(&ask.kind)) {
    for (const std::string& item : order->items) page.choices.push_back(lessons::parse_markdown(item));
  }
  std::string scenario;
  if (const auto* pick = std::get_if<lessons::WorkedInstruction>(&ask.kind)) scenario = pick->scenario;
  page.is_instruction = !scenario.empty();
  if (const auto* change = std::get_if<lessons::WorkedChange>(&ask.kind)) scenario = change->scenario;
  if (!scenario.empty()) {
    SHARDLAB_TRY(page.scene, scene_of(scenario, subjects));
  }
  return page;
}

}  // namespace

Result<std::string> effect_of_settings(const std::string& scenario, const std::vector<std::string>& settings,
                                       const lessons::LessonSubjects& subjects) {
  SHARDLAB_TRY(const lessons::PredictedSubject* before, subjects.predicted(scenario));
  SHARDLAB_TRY(const lessons::PredictedSubject* after, subjects.predicted_with(scenario, settings));
  return lessons::compared_text({{"before", before}, {"changed", after}}, k_in_panel);
}

Result<StepPage> make_step_page(int step, const lessons::WalkedStep& walked,
                                const lessons::LessonSubjects& subjects) {
  StepPage page;
  page.step = step;
  page.kind = walked.kind;
  page.text = lessons::parse_markdown(walked.text);
  if (walked.look != nullptr) {
    SHARDLAB_TRY(page.look, look_page(*walked.look, subjects));
    SHARDLAB_TRY(page.look->picture, look_text(*walked.look, subjects, k_in_panel));
  }
  if (walked.show != nullptr) {
    SHARDLAB_TRY(page.show, look_page(*walked.show, subjects));
  }
  if (walked.kind == lessons::StepKind::ask) {
    SHARDLAB_TRY(page.question, question_page(walked.ask, subjects));
  }
  if (walked.run != nullptr) {
    SHARDLAB_TRY(LessonScene scene, scene_of(walked.run->scenario, subjects));
    page.run = {std::move(scene), "shardlab validate " + subjects.lesson().file_words(walked.run->scenario)};
  }
  if (walked.free != nullptr) {
    SHARDLAB_TRY(LessonScene scene, scene_of(walked.free->scenario, subjects));
    // What the lesson proposes may be refused, which is then worth seeing.
    const auto effect = effect_of_settings(walked.free->scenario, walked.free->settings, subjects);
    page.free = {std::move(scene), walked.free->settings, effect ? *effect : to_string(effect.error())};
  }
  const std::vector<lessons::LessonScenario>& scenarios = subjects.lesson().scenarios;
  if (page.shows_scenario() || scenarios.empty()) return page;
  // What it cannot show it does not speak of either.
  if (auto scene = scene_of(scenarios.front().name, subjects)) page.subject = *std::move(scene);
  return page;
}

}  // namespace shardlab::view
