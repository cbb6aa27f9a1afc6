#include <fmt/format.h>

#include <iterator>
#include <map>

#include "engine/plan/text.h"
#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/words/place_words.h"
#include "engine/trace/memory_timeline.h"

namespace shardlab {
namespace {

// "33 units: the whole model, layer 0 to layer 31".
std::string units_text(const StepPlan& plan) {
  if (plan.units.empty()) return "no units";
  std::string text = counted(std::ssize(plan.units), "unit") + ": ";
  if (plan.units.size() <= 2) {
    for (const PlanUnit& unit : plan.units)
      text += (text.ends_with(": ") ? "" : ", ") + to_words(place_of(unit.module_path));
    return text;
  }
  return text + fmt::format("{}, {} to {}", to_words(place_of(plan.units[0].module_path)),
                            to_words(place_of(plan.units[1].module_path)),
                            to_words(place_of(plan.units.back().module_path)));
}

// "13 AllGather (33.7 MiB), 7 ReduceScatter (17.1 MiB) of the full side".
std::string collectives_text(const StepPlan& plan) {
  std::map<InstructionKind, std::pair<std::int64_t, Bytes>> kinds;
  for (const Instruction& instruction : plan.instructions) {
    if (!is_collective(instruction.kind)) continue;
    auto& [count, bytes] = kinds[instruction.kind];
    ++count;
    bytes += instruction.bytes;
  }
  std::string text;
  for (const auto& [kind, total] : kinds)
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", grouped(total.first), to_string(kind),
                        to_string(total.second));
  return text.empty() ? "no communication" : text + " of the full side";
}

// "forward 0 to 47, backward 48 to 119, optimizer 120 to 131"; of many micro-batches the first and the end.
std::string phases_text(const StepPlan& plan) {
  const std::vector<StepPhase> phases = phases_of(plan);
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < phases.size();) {
    std::size_t end = begin;
    while (end < phases.size() && phases[end] == phases[begin]) ++end;
    parts.push_back(fmt::format("{} {} to {}", to_string(phases[begin]), begin, end - 1));
    begin = end;
  }
  constexpr std::size_t k_begin = 4, k_end = 2;
  const bool is_long = parts.size() > k_begin + k_end;
  if (is_long) parts.erase(parts.begin() + k_begin, parts.end() - k_end);
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : is_long && i == k_begin ? " ... " : ", ") + parts[i];
  return text;
}

}  // namespace

std::string plan_heading(const std::string& scenario, const StepPlan& plan, bool with_buffers) {
  std::string text = fmt::format("# {}, {} step: {}, {}", scenario, to_string(plan.phase), plan.strategy,
                                 counted(plan.world_size, "rank"));
  if (plan.micro_batches > 0)
    text += fmt::format(", {} micro-batch{}", plan.micro_batches, plan.micro_batches == 1 ? "" : "es");
  text += ", " + counted(std::ssize(plan.instructions), "instruction");
  text += "\n# " + units_text(plan) + "\n# " + collectives_text(plan) + "\n";
  if (plan.phase != PlanPhase::setup) text += "# " + phases_text(plan) + "\n";
  text +=
      fmt::format("# {} alive when it begins; {}{}\n", to_string(carried_bytes(plan)),
                  counted(std::ssize(plan.buffers), "buffer"), with_buffers ? "" : ", which --buffers lists");
  return text + "# plan " + plan_hash(plan) + "\n";
}

std::string without_buffers(const std::string& plan_text) {
  std::string text;
  for (std::size_t begin = 0; begin < plan_text.size();) {
    const std::size_t end = std::min(plan_text.find('\n', begin), plan_text.size() - 1) + 1;
    if (plan_text.compare(begin, 7, "buffer ") != 0) text.append(plan_text, begin, end - begin);
    begin = end;
  }
  return text;
}

}  // namespace shardlab
