#include "engine/plan/diff.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "engine/plan/text.h"

namespace shardlab {
namespace {

constexpr int k_context_lines = 2;
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

struct Edit {
  char mark;  // ' ', '-', '+'
  const std::string* line;
};

// Shortest edit script (E. Myers, "An O(ND) difference algorithm and its variations", 1986). Empty when
// longer than the limit.
class EditScript {
 public:
  EditScript(const std::vector<std::string>& a, const std::vector<std::string>& b) : a_(a), b_(b) {}

  std::vector<Edit> find() {
    const int longest = std::min<int>(static_cast<int>(a_.size() + b_.size()), k_largest_script);
    std::vector<int> furthest(static_cast<std::size_t>(2 * longest + 3), 0);
    for (int d = 0; d <= longest; ++d) {
      rounds_.push_back(furthest);
      for (int k = -d; k <= d; k += 2) {
        const auto at = [&](int diagonal) -> int& {
          return furthest[static_cast<std::size_t>(diagonal + longest + 1)];
        };
        int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        while (matches(x, x - k)) ++x;
        at(k) = x;
        if (x >= size(a_) && x - k >= size(b_)) return trace_back(d, longest);
      }
    }
    return {};
  }

 private:
  static int size(const std::vector<std::string>& lines) { return static_cast<int>(lines.size()); }
  bool matches(int x, int y) const {
    return x < size(a_) && y < size(b_) && a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)];
  }

  std::vector<Edit> trace_back(int depth, int longest) const {
    std::vector<Edit> edits;
    int x = size(a_);
    int y = size(b_);
    for (int d = depth; d >= 0; --d) {
      const auto at = [&](int diagonal) {
        return rounds_[static_cast<std::size_t>(d)][static_cast<std::size_t>(diagonal + longest + 1)];
      };
      const int k = x - y;
      const int previous = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
      const int from_x = d == 0 ? 0 : at(previous);
      const int from_y = d == 0 ? 0 : from_x - previous;
      while (x > from_x && y > from_y && matches(x - 1, y - 1)) {
        edits.push_back({' ', &a_[static_cast<std::size_t>(--x)]});
        --y;
      }
      if (d == 0) break;
      if (x == from_x) {
        edits.push_back({'+', &b_[static_cast<std::size_t>(--y)]});
      } else {
        edits.push_back({'-', &a_[static_cast<std::size_t>(--x)]});
      }
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  const std::vector<std::string>& a_;
  const std::vector<std::string>& b_;
  std::vector<std::vector<int>> rounds_;
};

// Changed lines with their surroundings; what is left out is one line of dots.
std::string render(const std::vector<Edit>& edits) {
  std::vector<bool> shown(edits.size(), false);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].mark == ' ') continue;
    const std::size_t first = i < k_context_lines ? 0 : i - k_context_lines;
    for (std::size_t j = first; j < std::min(edits.size(), i + k_context_lines + 1); ++j) shown[j] = true;
  }
  std::string text;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (shown[i]) {
      text += fmt::format("{} {}\n", edits[i].mark, *edits[i].line);
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
  const std::vector<Edit> edits = EditScript(a, b).find();
  return edits.empty() ? summary(before, after) : render(edits);
}

}  // namespace shardlab
