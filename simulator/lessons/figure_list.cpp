#include "simulator/lessons/figure_list.h"

#include <fmt/format.h>

#include "engine/lessons/expression.h"

namespace shardlab::lessons {

std::vector<FigureSection> figure_sections() {
  return {{"Memory", figures_of_memory()},
          {"Time", figures_of_time()},
          {"Communication", figures_of_communication()},
          {"The plan", figures_of_plans()},
          {"The model", figures_of_models()},
          {"The scenario and its machine", figures_of_scenarios()},
          {"A real run", figures_of_runs()}};
}

const FigureFunction* find_figure(std::string_view name) {
  for (const FigureSection& section : figure_sections()) {
    for (const FigureFunction& function : section.functions) {
      if (function.name == name) return &function;
    }
  }
  return nullptr;
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names = common_functions();
  for (const FigureSection& section : figure_sections()) {
    for (const FigureFunction& function : section.functions) names.emplace_back(function.name);
  }
  names.emplace_back("run");
  return names;
}

std::string figure_reference() {
  std::string text = "| Function | Gives |\n| --- | --- |\n";
  for (const FigureSection& section : figure_sections()) {
    text += fmt::format("| **{}** | |\n", section.title);
    for (const FigureFunction& function : section.functions)
      text += fmt::format("| `{}({})` | {} |\n", function.name, function.arguments, function.help);
  }
  return text;
}

Result<std::string> text_of(const Value& value) {
  if (value.kind == ValueKind::text) return value.text;
  return bad_input({}, fmt::format("a text in quotes was expected, not {}", to_string(value.kind)));
}

}  // namespace shardlab::lessons
