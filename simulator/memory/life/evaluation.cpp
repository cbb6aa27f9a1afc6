// A forward without gradients: the forward of the steady plan, whose segments keep nothing. Within a segment
// a value lives up to the last step that reads it.
#include <algorithm>

#include "engine/plan/segment_run.h"
#include "engine/scenario/train_spec.h"
#include "simulator/memory/life/life_rows.h"

namespace shardlab {
namespace {

// The highest that the program's own values reach where each is dropped after its last use.
Bytes lean_peak(const Program& program) {
  std::vector<std::size_t> last(program.values.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    for (const ValueList* list : {&step.operands, &step.results, &step.extras, &step.allocates})
      for (const ValueIndex value : *list)
        if (value < last.size()) last[value] = i;
  }
  std::vector<Bytes> dropped(program.steps.size());  // after each
  Bytes live, peak;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    for (const ValueIndex value : step.allocates) {
      live += program.values[value].bytes;
      if (program.values[value].origin == ValueOrigin::internal)
        dropped[last[value]] += program.values[value].bytes;
    }
    peak = std::max(peak, live + std::max(step.temporaries, step.temporaries_before));
    live -= dropped[i];
  }
  return peak;
}

bool is_saved(const Buffer& buffer) {
  return buffer.saved_by.has_value();
}

// Border tensors stay from segment to segment as they do in the step; what segments keep for backward is
// never made.
Bytes forward_peak(const PlannedScenario& planned) {
  const StepPlan& plan = planned.plan.steady;
  Bytes live = carried_bytes(plan), peak = live;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind == InstructionKind::Backward) break;
    if (instruction.kind == InstructionKind::Forward) {
      const SegmentPrograms& programs = planned.partition.segment(*instruction.segment).programs;
      peak = std::max(peak, live + lean_peak(segment_run(programs, instruction.kind).program));
    }
    for (const BufferId id : instruction.allocates)
      if (!is_saved(plan.buffer(id))) live += plan.buffer(id).bytes();
    peak = std::max(peak, live);
    for (const BufferId id : instruction.frees)
      if (!is_saved(plan.buffer(id))) live -= plan.buffer(id).bytes();
  }
  return peak;
}

}  // namespace

PhaseMemory evaluation_phase(const JobState& job) {
  return {.phase = LifePhase::evaluate,
          .device = forward_peak(job.planned),
          .host = job.processes,
          .asked = job.planned.scenario.train->evaluation.every > 0,
          .runs = false,
          .formula = "the forward of a micro-batch, nothing kept for backward"};
}

}  // namespace shardlab
