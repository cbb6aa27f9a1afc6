#include "simulator/memory/step_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/plan/gradient_parts.h"
#include "engine/plan/segment_run.h"
#include "simulator/memory/program_memory.h"

namespace shardlab {
namespace {

class StepMemory {
 public:
  StepMemory(const PlannedScenario& planned, const StepPlan& plan, int workspaces)
      : planned_(planned), plan_(plan), workspaces_(workspaces) {
    for (const Buffer& buffer : plan.buffers) {
      if (buffer.carried) add(buffer, 1);
    }
  }

  Result<std::vector<MemorySample>> follow() {
    std::vector<MemorySample> samples;
    samples.reserve(plan_.instructions.size());
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const auto id = make_id<InstructionId>(i);
      MemorySample& sample = samples.emplace_back();
      sample.instruction = id;
      SHARDLAB_CHECK_OK(issue(id, sample));
      sample.live = live_;
      sample.by_class = by_class_;
      sample.elsewhere = elsewhere_;
    }
    return samples;
  }

 private:
  void add(const Buffer& buffer, std::int64_t sign) {
    const Bytes bytes = buffer.own_bytes() * sign;
    if (buffer.space != MemorySpace::device) {
      elsewhere_[static_cast<std::size_t>(buffer.space)] += bytes;
      return;
    }
    live_ += bytes;
    by_class_[static_cast<std::size_t>(buffer.buffer_class)] += bytes;
  }

  Status issue(InstructionId id, MemorySample& sample) {
    const Instruction& instruction = plan_.instruction(id);
    if (runs_segment(instruction.kind)) return run_segment(id, sample);
    for (const BufferId buffer : instruction.allocates) add(plan_.buffer(buffer), 1);
    note_peak(sample, {}, {});
    for (const BufferId buffer : instruction.frees) add(plan_.buffer(buffer), -1);
    return {};
  }

  // All buffers are made and freed by the program's steps.
  Status run_segment(InstructionId id, MemorySample& sample) {
    const Instruction& instruction = plan_.instruction(id);
    const SegmentRun run =
        segment_run(planned_.partition.segment(*instruction.segment).programs, instruction.kind);
    const ProgramMemory memory = follow_program(run.program, run.kept, planned_.graph.loss, workspaces_,
                                                gradients_by_step(instruction, run.program));
    Bytes promised;
    for (const BufferId buffer : instruction.allocates) promised += plan_.buffer(buffer).bytes();
    for (const BufferId buffer : instruction.frees) promised -= plan_.buffer(buffer).bytes();
    if (promised != memory.end) {
      return internal_error(
          instruction_label(plan_, id),
          fmt::format("its program leaves {} B, the plan says {} B", memory.end.value, promised.value));
    }
    note_peak(sample, memory.peak, memory.at_peak);
    live_ += memory.end;
    for (std::size_t i = 0; i < k_buffer_classes; ++i) by_class_[i] += memory.at_end[i];
    return {};
  }

  std::vector<Bytes> gradients_by_step(const Instruction& instruction, const Program& program) const {
    std::vector<Bytes> bytes;
    if (instruction.kind != InstructionKind::Backward) return bytes;
    for (const auto& parts : gradient_parts(planned_.graph, plan_, instruction, program)) {
      bytes.emplace_back();
      for (const GradientPart& part : parts) bytes.back() += part.bytes;
    }
    return bytes;
  }

  // The peak is what is alive now plus `above`.
  void note_peak(MemorySample& sample, Bytes above, const BytesByClass& by_class) const {
    sample.peak = live_ + above;
    sample.peak_elsewhere = elsewhere_;
    for (std::size_t i = 0; i < k_buffer_classes; ++i)
      sample.by_class_at_peak[i] = by_class_[i] + by_class[i];
  }

  const PlannedScenario& planned_;
  const StepPlan& plan_;
  int workspaces_;
  Bytes live_;
  BytesByClass by_class_{};
  BytesBySpace elsewhere_{};
};

}  // namespace

Result<std::vector<MemorySample>> simulate_memory(const PlannedScenario& planned, const StepPlan& plan,
                                                  int workspaces) {
  return StepMemory(planned, plan, workspaces).follow();
}

}  // namespace shardlab
