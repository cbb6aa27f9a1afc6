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

constexpr std::string_view k_show = "show";

const StepReader* find_kind(const std::string& key) {
  const auto* const found =
      std::find_if(k_kinds.begin(), k_kinds.end(), [&](const StepReader& each) { return each.key == key; });
  return found == k_kinds.end() ? nullptr : found;
}

// The kind of a step, null with a complaint where it has none or several.
const YamlEntry* kind_of(const YamlNode& node, const std::string& name, LessonReader& reader) {
  std::vector<std::string> known;
  for (const StepReader& kind : k_kinds) known.emplace_back(kind.key);
  const YamlEntry* kind = nullptr;
  int kinds = 0;
  for (const YamlEntry& entry : node.entries) {
    if (find_kind(entry.key) == nullptr) continue;
    kind = &entry;
    ++kinds;
  }
  if (node.is_map() && kinds == 1) return kind;
  if (node.is_map() && kinds == 0 && !node.entries.empty() && node.entries.front().key != k_show) {
    const YamlEntry& first = node.entries.front();
    reader.refuse(first.place, name, "unknown kind of step '" + first.key + "'",
                  suggestion(first.key, known));
  } else {
    reader.refuse(node.place, name, "a step is a map with one key that is its kind",
                  fmt::format("known: {}", fmt::join(known, ", ")));
  }
  return nullptr;
}

bool may_show(const LessonStep& step) {
  return std::holds_alternative<TextStep>(step.kind) || std::holds_alternative<AskStep>(step.kind) ||
         std::holds_alternative<RevealStep>(step.kind);
}

}  // namespace

LessonStep read_lesson_step(const YamlNode& node, const std::string& name, LessonReader& reader) {
  LessonStep step;
  step.place = node.place;
  const YamlEntry* const kind = kind_of(node, name, reader);
  if (kind == nullptr) return step;
  step.kind = find_kind(kind->key)->read(kind->value, joined_name(name, kind->key), reader);
  for (const YamlEntry& entry : node.entries) {
    if (&entry == kind) continue;
    if (entry.key != k_show)
      reader.refuse(entry.place, name, "unknown key '" + entry.key + "'",
                    suggestion(entry.key, std::vector{std::string(k_show)}));
    else if (may_show(step))
      step.show = read_show(entry.value, joined_name(name, k_show), reader);
    else
      reader.refuse(entry.place, joined_name(name, k_show), "a " + kind->key + " shows its own scenario",
                    "show stands beside text, ask and reveal");
  }
  return step;
}

}  // namespace shardlab::lessons
