#include <fmt/format.h>

#include <map>

#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab {
namespace {

// Count and bytes of each kind, in the order of the kinds.
std::string kinds_part(const StepPlan& plan, const TextStyle& style) {
  std::map<InstructionKind, std::pair<std::int64_t, Bytes>> kinds;
  for (const Instruction& instruction : plan.instructions) {
    auto& [count, bytes] = kinds[instruction.kind];
    ++count;
    bytes += instruction.bytes;
  }
  TextTable table({{"instruction", Align::left}, {"count"}, {"bytes"}});
  for (const auto& [kind, total] : kinds) {
    table.add({std::string(to_string(kind)), grouped(total.first),
               total.second.value > 0 ? to_string(total.second) : ""});
  }
  return table.text(style);
}

std::string groups_line(const StepPlan& plan) {
  std::string text;
  for (const Group& group : plan.groups)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", to_text(group.ranks), group.size);
  return text.empty() ? "" : "groups   " + text + '\n';
}

std::string streams_line(const StepPlan& plan) {
  std::string text;
  for (const Stream& stream : plan.streams) text += (text.empty() ? "" : ", ") + stream.name;
  return "streams  " + text + '\n';
}

// "fsdp2", "fsdp2 with a teacher under fsdp1".
std::string strategies(const PlannedScenario& planned) {
  const auto& distillation = planned.scenario.distillation;
  if (!distillation) return planned.plan.steady.strategy;
  return planned.plan.steady.strategy + " with a teacher under " + distillation->teacher.parallel->strategy;
}

}  // namespace

std::string plan_summary(const PlannedScenario& planned, const TextStyle& style) {
  const StepPlan& plan = planned.plan.steady;
  std::string text = fmt::format(
      "plan {:.12}: {}, {} {}, {} micro-batch{} a step, {} instructions\n", plan_hash(plan),
      strategies(planned), plan.world_size, plan.world_size == 1 ? "rank" : "ranks", plan.micro_batches,
      plan.micro_batches == 1 ? "" : "es", grouped(static_cast<std::int64_t>(plan.instructions.size())));
  text += groups_line(plan) + streams_line(plan);
  text += fmt::format("memory   {} alive when a step begins\n\n", to_string(carried_bytes(plan)));
  return text + unit_table(planned, style) + '\n' + kinds_part(plan, style);
}

}  // namespace shardlab
