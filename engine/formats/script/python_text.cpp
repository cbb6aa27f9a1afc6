#include "engine/formats/script/python_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

std::string python_object(const ToolValue& value, int indent) {
  if (value.empty()) return "{}";
  std::string text = "{\n";
  for (const auto& [key, inner] : value.items())
    text += fmt::format("{:{}}{}: {},\n", "", indent + 4, ToolValue(key).dump(),
                        python_literal(inner, indent + 4));
  return text + fmt::format("{:{}}}}", "", indent);
}

std::string python_list(const ToolValue& value, int indent) {
  std::string text = "[";
  for (const ToolValue& item : value) {
    if (text.size() > 1) text += ", ";
    text += python_literal(item, indent);
  }
  return text + "]";
}

}  // namespace

std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string>> places) {
  std::string made(text);
  for (const auto& [name, value] : places) {
    const std::string place = fmt::format("@{}@", name);
    for (std::size_t at = made.find(place); at != std::string::npos; at = made.find(place, at + value.size()))
      made.replace(at, place.size(), value);
  }
  return made;
}

std::string python_literal(const ToolValue& value, int indent) {
  if (value.is_object()) return python_object(value, indent);
  if (value.is_array()) return python_list(value, indent);
  if (value.is_boolean()) return python_bool(value.get<bool>());
  if (value.is_null()) return "None";
  return value.dump();  // JSON's texts and numbers are Python's
}

std::string python_bool(bool value) {
  return value ? "True" : "False";
}

std::string joined_arguments(std::initializer_list<std::string> arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    if (argument.empty()) continue;
    if (!text.empty()) text += ", ";
    text += argument;
  }
  return text;
}

std::string indented(std::string_view text, int spaces) {
  std::string made;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) made.append(static_cast<std::size_t>(spaces), ' ').append(line);
    made.push_back('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return made;
}

}  // namespace shardlab
