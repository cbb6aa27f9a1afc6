// What the readers of lessons share: typed values of a YAML tree, every complaint with its place.
//
// A complaint does not end the reading, so that a teacher sees several mistakes at once. Values that cannot
// be read are empty.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/yaml.h"
#include "engine/lessons/lesson.h"
#include "engine/scenario/problems.h"

namespace shardlab::lessons {

class LessonReader {
 public:
  explicit LessonReader(Problems& problems) : problems_(problems) {}

  // Whether it is a map; complains of one that is not, of unknown keys (with the nearest) and of missing
  // ones.
  bool is_section(const YamlNode& node, const std::string& name, const std::vector<std::string>& required,
                  const std::vector<std::string>& optional = {});

  // A key that is absent has an empty value, and nothing is said.
  std::string word(const YamlNode& section, std::string_view key, const std::string& name);
  std::vector<std::string> words(const YamlNode& section, std::string_view key, const std::string& name);
  LessonText text(const YamlNode& section, std::string_view key, const std::string& name);
  Expression expression(const YamlNode& section, std::string_view key, const std::string& name);
  std::vector<Expression> expressions(const YamlNode& section, std::string_view key, const std::string& name);
  // A map of keys to values as key=value.
  std::vector<std::string> settings(const YamlNode& section, std::string_view key, const std::string& name);
  // The thought and the source of a wrong answer, both required.
  Mistake mistake(const YamlNode& section, const std::string& name);

  LessonText text(const YamlNode& node, const std::string& name);
  Expression expression(const YamlNode& node, const std::string& name);
  // The items of a list; complains of anything else, and of an empty one.
  const std::vector<YamlNode>& list(const YamlNode& section, std::string_view key, const std::string& name);

  void refuse(const Place& place, const std::string& name, const std::string& what,
              const std::string& hint = {}) {
    problems_.add(named(place, name), what, hint);
  }
  void refuse(Error error, const std::string& name);

 private:
  Problems& problems_;
};

// "steps[3].ask", as messages name it.
std::string joined_name(const std::string& name, std::string_view key);

// The parts of a lesson's file, each a file of its own.
LessonStep read_lesson_step(const YamlNode& node, const std::string& name, LessonReader& reader);
LookStep read_look(const YamlNode& node, const std::string& name, LessonReader& reader);
// The keys of a look but for what is said of it.
LookStep read_show(const YamlNode& node, const std::string& name, LessonReader& reader);
AskStep read_question(const YamlNode& node, const std::string& name, LessonReader& reader);
std::vector<LessonScenario> read_lesson_scenarios(const YamlNode& node, LessonReader& reader);

}  // namespace shardlab::lessons
