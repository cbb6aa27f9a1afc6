#include "engine/plan/diff.h"

#include <map>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "engine/base/text/line_edits.h"
#include "engine/plan/text.h"

namespace shardlab {
namespace {

constexpr std::size_t k_context_lines = 2;
constexpr int k_largest_script =
    1500;  // inserted and removed lines beyond which a diff tells nobody anything

// Instruction lines without their numbers; waits name what they wait for.
std::vector<std::string> comparable_lines(const StepPlan& plan) {
  std::vector<std::string> lines;
  std::istringstream text(canonical_text(plan));
  for (std::string line; std::getline(text, line);) {
    if (line[0] >= '0' && line[0] <= '9') {
      const auto index = static_cast<std::size_t>(std::stoul(line));
      line = line.substr(line.find(' ') + 1);
      line = line.substr(0, line.find(" waits "));
      for (const InstructionId wait : plan.instructions[index].waits) {
        const std::string label = instruction_label(plan, wait);
        line += " after [" + label.substr(label.find(' ') + 1) + "]";
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

char mark_of(LineEdit::Kind kind) {
  switch (kind) {
    case LineEdit::Kind::kept: return ' ';
    case LineEdit::Kind::removed: return '-';
    case LineEdit::Kind::added: return '+';
  }
  return '?';
}

// Changed lines with their surroundings; what is left out is one line of dots.
std::string render(const std::vector<LineEdit>& edits) {
  const std::vector<bool> shown = near_changes(edits, k_context_lines);
  std::string text;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (shown[i]) {
      text += fmt::format("{} {}\n", mark_of(edits[i].kind), *edits[i].line);
    } else if (i == 0 || shown[i - 1]) {
      text += "  ...\n";
    }
  }
  return text;
}

std::string summary(const StepPlan& before, const StepPlan& after) {
  std::map<std::string_view, std::pair<int, int>> counts;
  for (const Instruction& instruction : before.instructions) ++counts[to_string(instruction.kind)].first;
  for (const Instruction& instruction : after.instructions) ++counts[to_string(instruction.kind)].second;
  std::string text = "the plans have next to nothing in common; instructions by kind:\n";
  for (const auto& [kind, count] : counts)
    text += fmt::format("  {:<14} {:>6} -> {:>6}\n", kind, count.first, count.second);
  return text;
}

}  // namespace

std::string diff_plans(const StepPlan& before, const StepPlan& after) {
  const std::vector<std::string> a = comparable_lines(before);
  const std::vector<std::string> b = comparable_lines(after);
  if (a == b) return {};
  const std::vector<LineEdit> edits = line_edits(a, b, k_largest_script);
  return edits.empty() ? summary(before, after) : render(edits);
}

}  // namespace shardlab
