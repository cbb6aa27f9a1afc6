#include "engine/formats/plan_dot.h"

#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace shardlab {
namespace {

std::string_view fill_of(InstructionKind kind) {
  if (is_collective(kind)) return "lightsalmon";
  if (is_host_only(kind)) return "gray90";
  if (kind == InstructionKind::Forward || kind == InstructionKind::Backward ||
      kind == InstructionKind::Recompute)
    return "lightblue";
  return "white";
}

void write_stream(std::string& text, const StepPlan& plan, std::size_t stream) {
  fmt::format_to(std::back_inserter(text), "  subgraph cluster_{} {{\n    label=\"{}\";\n", stream,
                 plan.streams[stream].name);
  std::optional<std::size_t> previous;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (instruction.stream.index() != stream) continue;
    fmt::format_to(std::back_inserter(text), "    i{} [label=\"{}\" fillcolor={}];\n", i,
                   instruction_label(plan, make_id<InstructionId>(i)), fill_of(instruction.kind));
    if (previous) fmt::format_to(std::back_inserter(text), "    i{} -> i{} [color=gray];\n", *previous, i);
    previous = i;
  }
  text += "  }\n";
}

}  // namespace

std::string plan_dot(const StepPlan& plan) {
  std::string text =
      "digraph plan {\n  rankdir=TB;\n  node [shape=box style=filled fontname=\"sans-serif\" fontsize=10];\n";
  for (std::size_t i = 0; i < plan.streams.size(); ++i) write_stream(text, plan, i);
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    for (const InstructionId id : plan.instructions[i].waits)
      fmt::format_to(std::back_inserter(text), "  i{} -> i{};\n", id.value, i);
  }
  return text + "}\n";
}

}  // namespace shardlab
