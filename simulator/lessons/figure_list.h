// All functions of expressions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/lessons/figure_function.h"

namespace shardlab::lessons {

struct FigureSection {
  std::string_view title;
  std::span<const FigureFunction> functions;
};
std::vector<FigureSection> figure_sections();

// Null for an unknown name.
const FigureFunction* find_figure(std::string_view name);
std::vector<std::string> figure_names();

// The table of functions in docs/writing-lessons.md.
std::string figure_reference();

// One a file.
std::span<const FigureFunction> figures_of_memory();
std::span<const FigureFunction> figures_of_time();
std::span<const FigureFunction> figures_of_communication();
std::span<const FigureFunction> figures_of_plans();
std::span<const FigureFunction> figures_of_models();
std::span<const FigureFunction> figures_of_scenarios();
std::span<const FigureFunction> figures_of_runs();

}  // namespace shardlab::lessons
