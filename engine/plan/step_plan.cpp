#include "engine/plan/step_plan.h"

#include <utility>

#include <fmt/format.h>

#include "engine/base/hash.h"
#include "engine/plan/text.h"

namespace shardlab {

StepPlan::StepPlan() = default;
StepPlan::StepPlan(const StepPlan&) = default;
StepPlan::StepPlan(StepPlan&&) noexcept = default;
StepPlan& StepPlan::operator=(const StepPlan&) = default;
StepPlan& StepPlan::operator=(StepPlan&&) noexcept = default;
StepPlan::~StepPlan() = default;

std::string plan_hash(const StepPlan& plan) {
  return hash_hex(canonical_text(plan));
}

std::string run_hash(const RunPlan& plan) {
  std::string text;
  for (const StepPlan* step : plan.all()) text += canonical_text(*step);
  return hash_hex(text);
}

const StepPlan& RunPlan::step(std::int64_t number) const {
  if (number < 0) return setup;
  if (number == 0) return first;
  return number == 1 && second ? *second : steady;
}

const StepPlan* RunPlan::find(PlanPhase phase) const {
  switch (phase) {
    case PlanPhase::setup: return &setup;
    case PlanPhase::first: return &first;
    case PlanPhase::second: return second ? &*second : nullptr;
    case PlanPhase::steady: return &steady;
    case PlanPhase::teardown: break;
  }
  return nullptr;
}

std::vector<const StepPlan*> RunPlan::all() const {
  std::vector<const StepPlan*> plans{&setup, &first};
  if (second) plans.push_back(&*second);
  plans.push_back(&steady);
  return plans;
}

std::string instruction_label(const StepPlan& plan, InstructionId id) {
  const Instruction& instruction = plan.instruction(id);
  std::string label = fmt::format("{} {}", id.value, to_string(instruction.kind));
  if (instruction.segment && instruction.segment->index() < plan.segments.size()) {
    label += ' ' + plan.segments[instruction.segment->index()].name;
  } else if (instruction.unit && instruction.unit->index() < plan.units.size()) {
    label += ' ' + plan.units[instruction.unit->index()].name;
  }
  if (instruction.micro_batch) label += fmt::format(" mb{}", *instruction.micro_batch);
  if (instruction.kind == InstructionKind::Free && !instruction.frees.empty()) {
    label += ' ' + plan.buffer(instruction.frees.front()).name;
  }
  return label;
}

std::vector<Bytes> live_bytes_after(const StepPlan& plan, MemorySpace space) {
  const auto in_space = [&](BufferId id) {
    const Buffer& buffer = plan.buffer(id);
    return buffer.space == space ? buffer.own_bytes() : Bytes{};
  };
  std::vector<Bytes> live;
  live.reserve(plan.instructions.size());
  Bytes sum = carried_bytes(plan, space);
  for (const Instruction& instruction : plan.instructions) {
    for (const BufferId id : instruction.allocates) sum += in_space(id);
    for (const BufferId id : instruction.frees) sum -= in_space(id);
    live.push_back(sum);
  }
  return live;
}

Bytes carried_bytes(const StepPlan& plan, MemorySpace space) {
  Bytes sum;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.carried && buffer.space == space) sum += buffer.own_bytes();
  }
  return sum;
}

Stream stream_called(std::string name) {
  const StreamRole role = parse_word<StreamRole>(name).value_or(StreamRole::other);
  return {std::move(name), role};
}

}  // namespace shardlab
