#include "gui/view_model/plan_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

namespace shardlab::view {
namespace {

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string buffer_names(const StepPlan& plan, const Instruction& instruction) {
  std::string names;
  for (const auto* const list : {&instruction.reads, &instruction.writes, &instruction.frees})
    for (const BufferId id : *list) names += plan.buffer(id).name + " ";
  return names;
}

}  // namespace

std::vector<PlanLine> plan_lines(const StepPlan& plan) {
  const std::vector<Bytes> live = live_bytes_after(plan);
  std::vector<PlanLine> lines;
  lines.reserve(plan.instructions.size());
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& self = plan.instructions[i];
    PlanLine line;
    line.id = make_id<InstructionId>(i);
    const std::string label = instruction_label(plan, line.id);
    line.label = label.substr(label.find(' ') + 1);  // its number has a column of its own
    line.stream = plan.streams[self.stream.index()].name;
    if (self.unit) line.unit = plan.units[self.unit->index()].module_path;
    if (self.bytes.value > 0) line.bytes = to_string(self.bytes);
    line.live = to_string(live[i]);
    for (const InstructionId wait : self.waits) line.waits += (line.waits.empty() ? "" : " ") + std::to_string(wait.value);
    line.pass = self.pass;
    line.search = lowered(fmt::format("{} {} {} {}", label, line.stream, line.unit, buffer_names(plan, self)));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::uint32_t> matching_lines(const std::vector<PlanLine>& lines, const StepPlan& plan,
                                          const PlanFilter& filter) {
  std::vector<std::string> words;
  std::istringstream stream(lowered(filter.query));
  for (std::string word; stream >> word;) words.push_back(word);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PlanLine& line = lines[i];
    if (filter.pass && line.pass != *filter.pass) continue;
    if (filter.kind && plan.instruction(line.id).kind != *filter.kind) continue;
    const auto contained = [&](const std::string& word) { return line.search.find(word) != std::string::npos; };
    if (std::all_of(words.begin(), words.end(), contained)) found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

std::vector<InstructionKind> kinds_of(const StepPlan& plan) {
  std::array<bool, 64> there{};
  for (const Instruction& instruction : plan.instructions) there[static_cast<std::size_t>(instruction.kind)] = true;
  std::vector<InstructionKind> kinds;
  for (std::size_t i = 0; i < there.size(); ++i)
    if (there[i]) kinds.push_back(static_cast<InstructionKind>(i));
  return kinds;
}

}  // namespace shardlab::view
