#include "engine/lessons/read_lesson.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/lessons/lesson_reader.h"

namespace shardlab::lessons {
namespace {

namespace fs = std::filesystem;

Assumption read_assumption(const YamlEntry& entry, LessonReader& reader) {
  const std::string name = "assume." + entry.key;
  Assumption assumption{.name = entry.key, .place = entry.value.place};
  if (!reader.is_section(entry.value, name, {"value", "source"})) return assumption;
  const Expression value = reader.expression(entry.value, "value", name);
  if (value.root.kind != ExpressionNode::Kind::literal)
    reader.refuse(value.place, name, "expected a quantity", "for example 98.32, 15 billion, 80 GiB");
  assumption.value = value.root.value;
  assumption.source = reader.word(entry.value, "source", name);
  return assumption;
}

void read_head(const YamlNode& root, Lesson& lesson, LessonReader& reader) {
  lesson.title = reader.word(root, "title", "");
  lesson.able = reader.word(root, "able", "");
  lesson.needs = reader.words(root, "needs", "");
  lesson.teaches = reader.words(root, "teaches", "");
  const std::string minutes = reader.word(root, "minutes", "");
  const auto count = parse_integer(minutes);
  if (count && *count >= 1 && *count <= 60)
    lesson.minutes = static_cast<int>(*count);
  else if (!minutes.empty())
    reader.refuse(root.find("minutes")->place, "minutes", "expected a number of minutes from 1 to 60");
}

// The scenario that is answered with: an instruction of it, or a change to it. Empty: none.
std::string asked_scenario(const AskStep& ask) {
  if (const auto* pick = std::get_if<InstructionQuestion>(&ask.kind)) return pick->scenario;
  if (const auto* change = std::get_if<ChangeQuestion>(&ask.kind)) return change->scenario;
  return {};
}

// Every name of a scenario that a step mentions is one of the lesson's.
void check_names(const Lesson& lesson, LessonReader& reader) {
  std::vector<std::string> known;
  for (const LessonScenario& scenario : lesson.scenarios) known.push_back(scenario.name);
  const auto check = [&](const std::string& name, const Place& place) {
    if (!name.empty() && lesson.find_scenario(name) == nullptr)
      reader.refuse(place, "", fmt::format("the lesson has no scenario '{}'", name),
                    fmt::format("its scenarios: {}", fmt::join(known, ", ")));
  };
  const auto check_all = [&](const LookStep& look, const Place& place) {
    for (const std::string& scenario : look.scenarios) check(scenario, place);
  };
  for (const LessonStep& step : lesson.steps) {
    if (const auto* look = std::get_if<LookStep>(&step.kind)) check_all(*look, step.place);
    if (step.show) check_all(*step.show, step.place);
    if (const auto* run = std::get_if<RunStep>(&step.kind)) check(run->scenario, step.place);
    if (const auto* free = std::get_if<TryStep>(&step.kind)) check(free->scenario, step.place);
    if (const auto* ask = std::get_if<AskStep>(&step.kind)) {
      const std::string asked = asked_scenario(*ask);
      check(asked, step.place);
      const bool is_other =
          step.show && !step.show->scenarios.empty() && step.show->scenarios.front() != asked;
      if (!asked.empty() && is_other)
        reader.refuse(step.place, "",
                      fmt::format("the question is about {}, but another scenario is shown", asked),
                      "leave `show` out, or show " + asked);
    }
  }
}

}  // namespace

int Lesson::question_count() const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const LessonStep& step) {
    return std::holds_alternative<AskStep>(step.kind);
  }));
}

const LessonScenario* Lesson::find_scenario(const std::string& scenario) const {
  const auto found = std::find_if(scenarios.begin(), scenarios.end(),
                                  [&](const LessonScenario& each) { return each.name == scenario; });
  return found == scenarios.end() ? nullptr : &*found;
}

std::string Lesson::file_words(const std::string& scenario) const {
  const LessonScenario& known = *find_scenario(scenario);
  std::string text = (folder / known.file).lexically_normal().string();
  for (const std::string& setting : known.settings) text += " --set '" + setting + "'";
  return text;
}

Result<Lesson> read_lesson(const fs::path& folder) {
  const fs::path file = folder / "lesson.yaml";
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_lesson_file));
  SHARDLAB_TRY(YamlNode root, parse_yaml(text, file.string()));
  if (root.is_null()) root.place = in_file(file.string());
  Problems problems;
  LessonReader reader(problems);
  Lesson lesson;
  lesson.folder = folder;
  lesson.name = fs::absolute(folder).lexically_normal().filename().string();
  if (lesson.name.empty())
    lesson.name = fs::absolute(folder).lexically_normal().parent_path().filename().string();
  lesson.place = in_file(file.string());
  if (!reader.is_section(root, "", {"title", "minutes", "able", "scenarios", "steps"},
                         {"needs", "teaches", "assume"}))
    return fail(problems.status().error());
  read_head(root, lesson, reader);
  if (const YamlNode* const scenarios = root.find("scenarios"))
    lesson.scenarios = read_lesson_scenarios(*scenarios, reader);
  if (const YamlNode* const assumed = root.find("assume")) {
    for (const YamlEntry& entry : assumed->entries)
      lesson.assumptions.push_back(read_assumption(entry, reader));
  }
  for (const YamlNode& node : reader.list(root, "steps", ""))
    lesson.steps.push_back(read_lesson_step(node, fmt::format("steps[{}]", lesson.steps.size() + 1), reader));
  check_names(lesson, reader);
  SHARDLAB_CHECK_OK(problems.status());
  return lesson;
}

}  // namespace shardlab::lessons
