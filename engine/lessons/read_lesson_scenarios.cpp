#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/lessons/lesson_reader.h"

namespace shardlab::lessons {
namespace {

namespace fs = std::filesystem;

// Names that expressions know otherwise.
bool is_taken(const std::string& name) {
  return name == "changed" || name == "run" || name == "and" || name == "or" || name == "not" || name == "is";
}

LessonScenario read_scenario_entry(const YamlEntry& entry, LessonReader& reader) {
  const std::string name = "scenarios." + entry.key;
  LessonScenario scenario{.name = entry.key, .place = entry.value.place};
  const auto parsed = parse_expression(entry.key, entry.place);
  if (!parsed || parsed->root.kind != ExpressionNode::Kind::name || is_taken(entry.key))
    reader.refuse(entry.place, "scenarios", fmt::format("'{}' cannot be a name in expressions", entry.key),
                  "letters, digits and _, for example a, per_layer");
  if (entry.value.is_scalar()) {
    scenario.file = entry.value.text;
  } else if (reader.is_section(entry.value, name, {"file"}, {"set", "refused"})) {
    scenario.file = reader.word(entry.value, "file", name);
    scenario.settings = reader.settings(entry.value, "set", name);
    const std::string refused = reader.word(entry.value, "refused", name);
    const auto truth = refused.empty() ? Result<bool>(false) : parse_boolean(refused);
    if (truth)
      scenario.refused = *truth;
    else
      reader.refuse(entry.value.find("refused")->place, name + ".refused", truth.error().what);
  }
  const fs::path file = scenario.file;
  if (file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end())
    reader.refuse(entry.value.place, name,
                  fmt::format("'{}' lies outside of the lesson's folder", scenario.file),
                  "a lesson's scenarios lie beside it");
  return scenario;
}

}  // namespace

std::vector<LessonScenario> read_lesson_scenarios(const YamlNode& node, LessonReader& reader) {
  std::vector<LessonScenario> scenarios;
  if (!node.is_map()) reader.refuse(node.place, "scenarios", "expected a map of names to files");
  for (const YamlEntry& entry : node.entries) scenarios.push_back(read_scenario_entry(entry, reader));
  return scenarios;
}

}  // namespace shardlab::lessons
