#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/lessons/lesson_reader.h"

namespace shardlab::lessons {
namespace {

RunStep read_run(const YamlNode& node, const std::string& name, LessonReader& reader) {
  RunStep run;
  if (!reader.is_section(node, name, {"scenario", "say", "holds"}, {"after"})) return run;
  run.scenario = reader.word(node, "scenario", name);
  run.say = reader.text(node, "say", name);
  run.holds = reader.expressions(node, "holds", name);
  run.after = reader.text(node, "after", name);
  return run;
}

TryStep read_try(const YamlNode& node, const std::string& name, LessonReader& reader) {
  TryStep free;
  if (!reader.is_section(node, name, {"scenario", "set", "say"})) return free;
  free.scenario = reader.word(node, "scenario", name);
  free.settings = reader.settings(node, "set", name);
  free.say = reader.text(node, "say", name);
  return free;
}

using StepKind = decltype(LessonStep::kind);

struct StepReader {
  std::string_view key;
  StepKind (*read)(const YamlNode&, const std::string&, LessonReader&);
};
constexpr std::array<StepReader, 6> k_kinds = {{
    {"text",
     [](const YamlNode& node, const std::string& name, LessonReader& reader) -> StepKind {
       return TextStep{reader.text(node, name)};
     }},
    {"look",
     [](const YamlNode& node, const std::string& name, LessonReader& reader) -> StepKind {
       return read_look(node, name, reader);
     }},
    {"ask",
     [](const YamlNode& node, const std::string& name, LessonReader& reader) -> StepKind {
       return read_question(node, name, reader);
     }},
    {"reveal",
     [](const YamlNode& node, const std::string& name, LessonReader& reader) -> StepKind {
       return RevealStep{reader.text(node, name)};
     }},
    {"run",
     [](const YamlNode& node, const std::string& name, LessonReader& reader) -> StepKind {
       return read_run(node, name, reader);
     }},
    {"try",
     [](const YamlNode& node, const std::string& name, LessonReader& reader) -> StepKind {
       return read_try(node, name, reader);
     }},
}};

}  // namespace

LessonStep read_lesson_step(const YamlNode& node, const std::string& name, LessonReader& reader) {
  LessonStep step;
  step.place = node.place;
  std::vector<std::string> known;
  for (const StepReader& kind : k_kinds) known.emplace_back(kind.key);
  if (!node.is_map() || node.entries.size() != 1) {
    reader.refuse(node.place, name, "a step is a map with one key, its kind",
                  fmt::format("known: {}", fmt::join(known, ", ")));
    return step;
  }
  const YamlEntry& entry = node.entries.front();
  const auto* const kind = std::find_if(k_kinds.begin(), k_kinds.end(),
                                        [&](const StepReader& each) { return each.key == entry.key; });
  if (kind == k_kinds.end()) {
    reader.refuse(entry.place, name, "unknown kind of step '" + entry.key + "'",
                  suggestion(entry.key, known));
    return step;
  }
  step.kind = kind->read(entry.value, name + "." + entry.key, reader);
  return step;
}

}  // namespace shardlab::lessons
