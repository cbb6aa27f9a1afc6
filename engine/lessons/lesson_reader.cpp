#include "engine/lessons/lesson_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/nearest.h"

namespace shardlab::lessons {

std::string joined_name(const std::string& name, std::string_view key) {
  return name.empty() ? std::string(key) : name + "." + std::string(key);
}

void LessonReader::refuse(Error error, const std::string& name) {
  if (error.place.name.empty()) error.place.name = name;
  problems_.add(std::move(error));
}

bool LessonReader::is_section(const YamlNode& node, const std::string& name,
                              const std::vector<std::string>& required,
                              const std::vector<std::string>& optional) {
  if (!node.is_map()) {
    refuse(node.place, name, fmt::format("expected a map of keys, found {}", describe(node.kind)));
    return false;
  }
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  for (const YamlEntry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end())
      refuse(entry.place, name, "unknown key '" + entry.key + "'", suggestion(entry.key, known));
  }
  for (const std::string& key : required) {
    const YamlNode* const value = node.find(key);
    if (value == nullptr || value->is_null()) refuse(node.place, name, key + " is required");
  }
  return true;
}

std::string LessonReader::word(const YamlNode& section, std::string_view key, const std::string& name) {
  const YamlNode* const node = section.find(key);
  if (node == nullptr) return {};
  if (!node->is_scalar() || node->text.empty())
    refuse(node->place, joined_name(name, key),
           fmt::format("expected a text, found {}", describe(node->kind)));
  return node->text;
}

std::vector<std::string> LessonReader::words(const YamlNode& section, std::string_view key,
                                             const std::string& name) {
  const YamlNode* const node = section.find(key);
  if (node == nullptr) return {};
  if (node->is_scalar()) return {node->text};
  std::vector<std::string> words;
  for (const YamlNode& item : node->items) {
    if (item.is_scalar())
      words.push_back(item.text);
    else
      refuse(item.place, joined_name(name, key),
             fmt::format("expected a text, found {}", describe(item.kind)));
  }
  if (node->is_map()) refuse(node->place, joined_name(name, key), "expected a list of texts");
  return words;
}

LessonText LessonReader::text(const YamlNode& node, const std::string& name) {
  if (!node.is_scalar() || node.text.empty()) {
    refuse(node.place, name, fmt::format("expected a text, found {}", describe(node.kind)));
    return {};
  }
  Result<LessonText> text = parse_lesson_text(node.text, node.place);
  if (text) return *std::move(text);
  refuse(std::move(text).error(), name);
  return fixed_text(node.text, node.place);
}

LessonText LessonReader::text(const YamlNode& section, std::string_view key, const std::string& name) {
  const YamlNode* const node = section.find(key);
  return node == nullptr ? LessonText() : text(*node, joined_name(name, key));
}

Expression LessonReader::expression(const YamlNode& node, const std::string& name) {
  if (!node.is_scalar() || node.text.empty()) {
    refuse(node.place, name, fmt::format("expected an expression, found {}", describe(node.kind)));
    return {};
  }
  Result<Expression> expression = parse_expression(node.text, node.place);
  if (expression) return *std::move(expression);
  refuse(std::move(expression).error(), name);
  return {};
}

Expression LessonReader::expression(const YamlNode& section, std::string_view key, const std::string& name) {
  const YamlNode* const node = section.find(key);
  return node == nullptr ? Expression() : expression(*node, joined_name(name, key));
}

std::vector<Expression> LessonReader::expressions(const YamlNode& section, std::string_view key,
                                                  const std::string& name) {
  std::vector<Expression> expressions;
  for (const YamlNode& item : list(section, key, name))
    expressions.push_back(expression(item, joined_name(name, key)));
  return expressions;
}

std::vector<std::string> LessonReader::settings(const YamlNode& section, std::string_view key,
                                                const std::string& name) {
  const YamlNode* const node = section.find(key);
  if (node == nullptr) return {};
  std::vector<std::string> settings;
  for (const YamlEntry& entry : node->entries)
    settings.push_back(entry.key + "=" + write_yaml_flow(entry.value));
  if (!node->is_map())
    refuse(node->place, joined_name(name, key), "expected a map of keys of the scenario to values",
           "for example {train.micro_batch: 2}");
  return settings;
}

Mistake LessonReader::mistake(const YamlNode& section, const std::string& name) {
  Mistake mistake{text(section, "thought", name), word(section, "source", name)};
  if (section.find("thought") == nullptr)
    refuse(section.place, name, "a wrong answer needs a thought: what leads people there");
  if (section.find("source") == nullptr)
    refuse(section.place, name, "a wrong answer needs a source: where somebody made this mistake");
  else if (!mistake.source.empty() && mistake.source.find("://") == std::string::npos)
    refuse(section.find("source")->place, joined_name(name, "source"), "names no address",
           "its title, then https://...");
  return mistake;
}

const std::vector<YamlNode>& LessonReader::list(const YamlNode& section, std::string_view key,
                                                const std::string& name) {
  static const std::vector<YamlNode> nothing;
  const YamlNode* const node = section.find(key);
  if (node == nullptr) return nothing;
  if (node->is_sequence() && !node->items.empty()) return node->items;
  refuse(
      node->place, joined_name(name, key),
      fmt::format("expected a list, found {}", node->is_sequence() ? "an empty one" : describe(node->kind)));
  return nothing;
}

}  // namespace shardlab::lessons
