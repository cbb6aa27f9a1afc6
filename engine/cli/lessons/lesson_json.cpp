#include "engine/cli/lessons/lesson_json.h"

#include <nlohmann/json.hpp>

#include "engine/lessons/judge_answer.h"
#include "simulator/lessons/walked_lesson.h"

namespace shardlab {
namespace {

using namespace lessons;  // NOLINT(google-build-using-namespace): a file of its words alone

Json mistake_json(const WorkedMistake& mistake) {
  return {{"thought", mistake.thought}, {"source", mistake.source}};
}

struct QuestionJson {
  Json operator()(const WorkedChoose& choose) const {
    Json options = Json::array();
    for (const WorkedOption& option : choose.options)
      options.push_back({{"answer", option.answer},
                         {"right", option.right},
                         {"mistake", option.right ? Json() : mistake_json(option.mistake)}});
    return {{"kind", "choose"}, {"options", options}};
  }
  Json operator()(const WorkedOrder& order) const { return {{"kind", "order"}, {"items", order.items}}; }
  Json operator()(const WorkedNumber& number) const {
    return {{"kind", "number"}, {"tolerance", number.tolerance}};
  }
  Json operator()(const WorkedInstruction& pick) const {
    return {{"kind", "instruction"}, {"scenario", pick.scenario}};
  }
  Json operator()(const WorkedChange& change) const {
    return {{"kind", "change"},
            {"scenario", change.scenario},
            {"keys", change.keys},
            {"until", change.until.source}};
  }
};

Json look_json(const lessons::LookStep& look) {
  return {{"panel", to_string(look.panel)}, {"scenarios", look.scenarios}};
}

Json step_json(const WalkedStep& step) {
  Json json = {{"kind", to_string(step.kind)}, {"text", step.text}};
  if (step.look != nullptr) json.update(look_json(*step.look));
  if (step.show != nullptr) json["show"] = look_json(*step.show);
  if (step.run != nullptr) json["scenario"] = step.run->scenario;
  if (step.free != nullptr)
    json.update({{"scenario", step.free->scenario}, {"settings", step.free->settings}});
  if (step.kind == lessons::StepKind::ask) {
    json["question"] = std::visit(QuestionJson{}, step.ask.kind);
    json["right_answer"] = right_answer(step.ask);
    json["wrong_answers"] = Json::array();
    for (const TypedMistake& wrong : wrong_answers(step.ask)) {
      json["wrong_answers"].push_back(mistake_json(wrong.mistake));
      json["wrong_answers"].back()["answer"] = wrong.typed;
    }
    json["answer_form"] = answer_form(step.ask);
  }
  return json;
}

}  // namespace

Result<Json> lesson_json(const OpenLesson& open) {
  Json steps = Json::array();
  for (const LessonStep& step : open.lesson->steps) {
    SHARDLAB_TRY(const WalkedStep walked, walk_step(step, *open.subjects));
    steps.push_back(step_json(walked));
  }
  const Lesson& lesson = *open.lesson;
  return Json{{"name", lesson.name}, {"title", lesson.title}, {"minutes", lesson.minutes},
              {"able", lesson.able}, {"needs", lesson.needs}, {"teaches", lesson.teaches},
              {"steps", steps}};
}

}  // namespace shardlab
