#include <fmt/format.h>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"
#include "engine/lessons/lesson_reader.h"

namespace shardlab::lessons {
namespace {

std::vector<std::string> look_keys() {
  return {"rank", "step", "instruction", "from", "to", "highlight"};
}

LookStep read_shown(const YamlNode& node, const std::string& name, LessonReader& reader,
                    const std::vector<std::string>& optional) {
  LookStep look;
  if (!reader.is_section(node, name, {"panel", "scenario"}, optional)) return look;
  const std::string panel = reader.word(node, "panel", name);
  if (const auto known = parse_word<LookPanel>(panel))
    look.panel = *known;
  else if (!panel.empty())
    reader.refuse(node.find("panel")->place, name + ".panel", "unknown panel '" + panel + "'",
                  suggestion(panel, all_words<LookPanel>()));
  look.scenarios = reader.words(node, "scenario", name);
  const std::size_t most = look.panel == LookPanel::compare ? 8 : 1;
  if (look.scenarios.size() > most)
    reader.refuse(node.place, name, fmt::format("shows {} scenarios, {} may", look.scenarios.size(), most));
  const auto rank =
      node.find("rank") == nullptr ? Result<std::int64_t>(0) : parse_integer(reader.word(node, "rank", name));
  if (!rank || *rank < 0)
    reader.refuse(node.find("rank")->place, name + ".rank", "expected the number of a rank");
  else
    look.rank = static_cast<int>(*rank);
  look.plan_step = node.find("step") == nullptr ? "steady" : reader.word(node, "step", name);
  look.instruction = reader.word(node, "instruction", name);
  look.from = reader.word(node, "from", name);
  look.to = reader.word(node, "to", name);
  look.highlight = reader.word(node, "highlight", name);
  look.say = reader.text(node, "say", name);
  return look;
}

}  // namespace

LookStep read_look(const YamlNode& node, const std::string& name, LessonReader& reader) {
  std::vector<std::string> optional = look_keys();
  optional.emplace_back("say");
  return read_shown(node, name, reader, optional);
}

LookStep read_show(const YamlNode& node, const std::string& name, LessonReader& reader) {
  return read_shown(node, name, reader, look_keys());
}

}  // namespace shardlab::lessons
