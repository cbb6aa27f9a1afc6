#include "engine/report/explain_memory/instruction_parts.h"

#include <algorithm>
#include <set>

#include "engine/model/operators/operator_type.h"
#include "engine/plan/gradient_parts.h"
#include "engine/plan/segment_run.h"
#include "engine/report/explain_memory/buffer_parts.h"

namespace shardlab {
namespace {

// A moment within a program: so many steps are done, of the next one so much has happened.
struct Moment {
  std::size_t step = 0;
  bool allocated = false;  // what the step makes is there, and its temporaries; else only those before
  Bytes temporaries;
  Bytes given;  // of the step's extras, back already
};

class ProgramAtPeak {
 public:
  ProgramAtPeak(const PeakContext& context, const Instruction& instruction, int workspaces)
      : context_(context),
        instruction_(instruction),
        run_(segment_run(context.planned.partition.segment(*instruction.segment).programs, instruction.kind)),
        workspaces_(workspaces),
        collectors_(k_buffer_classes, PartCollector(context)) {
    if (instruction.kind == InstructionKind::Backward)
      gradients_ = gradient_parts(context.planned.graph, context.plan, instruction, run_.program);
  }

  PartsByClass parts() {
    const Moment peak = find_peak();
    const std::vector<ProgramStep>& steps = run_.program.steps;
    std::vector<std::optional<std::size_t>> there = at_the_start();
    for (std::size_t i = 0; i < steps.size() && i <= peak.step; ++i) {
      add_gradients(i);
      if (i < peak.step || peak.allocated)
        for (const ValueIndex value : steps[i].allocates) there[value] = i;
      if (i < peak.step)
        for (const ValueIndex value : steps[i].frees) there[value].reset();
    }
    for (const ValueIndex value : given_by(peak)) there[value].reset();
    for (std::size_t value = 0; value < there.size(); ++value)
      if (there[value]) add(run_.program.values[value], class_of(value), *there[value]);
    if ((peak.temporaries + peak.given).value > 0) add_temporaries(steps[peak.step], peak);
    PartsByClass parts;
    for (std::size_t i = 0; i < k_buffer_classes; ++i) parts[i] = collectors_[i].parts();
    return parts;
  }

 private:
  static constexpr std::size_t k_before = static_cast<std::size_t>(-1);

  Bytes gradients_of(std::size_t step) const {
    Bytes sum;
    if (step < gradients_.size())
      for (const GradientPart& each : gradients_[step]) sum += each.bytes;
    return sum;
  }

  // The first of the highest moments, as the simulator finds it (simulator/memory/program_memory.cpp).
  Moment find_peak() const {
    Moment peak;
    Bytes live, highest;
    const auto note = [&](Moment moment) {
      if (live + moment.temporaries <= highest) return;
      highest = live + moment.temporaries;
      peak = moment;
    };
    for (std::size_t i = 0; i < run_.program.steps.size(); ++i) {
      const ProgramStep& step = run_.program.steps[i];
      live += gradients_of(i);
      note({i, false, step.temporaries_before, step.given_before});
      for (const ValueIndex value : step.allocates) live += run_.program.values[value].bytes;
      note({i, true, step.workspace * workspaces_ + step.temporaries, step.given});
      for (const ValueIndex value : step.frees) live -= run_.program.values[value].bytes;
    }
    return peak;
  }

  // By value, since which step it is there: what the program frees without having made it was there before.
  std::vector<std::optional<std::size_t>> at_the_start() const {
    std::vector<std::optional<std::size_t>> there(run_.program.values.size());
    std::vector<bool> made(there.size());
    for (const ProgramStep& step : run_.program.steps) {
      for (const ValueIndex value : step.allocates) made[value] = true;
      for (const ValueIndex value : step.frees)
        if (!made[value]) there[value] = k_before;
    }
    return there;
  }

  // What the step has given back of its extras by that moment.
  std::vector<ValueIndex> given_by(const Moment& moment) const {
    const ProgramStep& step = run_.program.steps[moment.step];
    std::vector<ValueIndex> given;
    Bytes sum;
    for (std::uint32_t i = step.blocks_begin; i < step.blocks_end && sum < moment.given; ++i) {
      const Bytes block = run_.program.blocks[i];
      if (!is_given_extra_block(block)) continue;
      given.push_back(step.extras[given_extra_of(block)]);
      sum += run_.program.values[given.back()].bytes;
    }
    return given;
  }

  BufferClass class_of(std::size_t index) const {
    const ProgramValue& value = run_.program.values[index];
    const bool kept = std::find(run_.kept.begin(), run_.kept.end(), index) != run_.kept.end();
    switch (value.origin) {
      case ValueOrigin::tensor_buffer:
        return value.tensor == context_.planned.graph.loss ? BufferClass::scalar : BufferClass::activation;
      case ValueOrigin::gradient_buffer: return BufferClass::activation_gradient;
      case ValueOrigin::saved: return BufferClass::activation;
      case ValueOrigin::internal: break;
    }
    return kept ? BufferClass::activation : BufferClass::workspace;
  }

  PartCollector& collector(BufferClass its) { return collectors_[static_cast<std::size_t>(its)]; }

  void add(const ProgramValue& value, BufferClass its, std::size_t since) {
    const ModelGraph& graph = context_.planned.graph;
    std::string made_by;
    if (since != k_before) {
      made_by = std::string(step_operation(graph, run_.program.steps[since]));
    } else if (!value.gradient) {
      made_by = context_.tensors.maker_name(value.tensor);
    }
    collector(its).add(value, std::move(made_by), -1);
  }

  void add_gradients(std::size_t step) {
    if (step >= gradients_.size()) return;
    for (const GradientPart& each : gradients_[step]) {
      const Buffer& buffer = context_.plan.buffer(each.buffer);
      if (buffer.layout == BufferLayout::separate_parameters) {
        collector(BufferClass::gradient).add_parameter(buffer, buffer.parameters[each.part]);
      } else {
        collector(BufferClass::gradient).add(each.buffer);
      }
    }
  }

  // An operator's temporaries are known as blocks, or as one sum.
  void add_temporaries(const ProgramStep& step, const Moment& moment) {
    const std::string operation(step_operation(context_.planned.graph, step));
    const bool has_operator = step.kind == StepKind::forward || step.kind == StepKind::backward;
    const auto add = [&](Bytes bytes, std::string what) {
      ByteProduct product{{{bytes.value, "bytes"}}};
      if (has_operator)
        product = context_.tensors.product_of_block(context_.planned.graph.op(step.op), bytes);
      collector(BufferClass::workspace).add(std::move(what), operation, std::move(product));
    };
    Bytes rest = moment.temporaries + moment.given;
    if (moment.allocated && workspaces_ > 0 && step.workspace.value > 0) {
      const ByteProduct product{{{step.workspace.value, "bytes"}, {workspaces_, "threads"}}};
      collector(BufferClass::workspace).add("workspace", operation, product);
      rest -= step.workspace * workspaces_;
    }
    for (const Bytes block : blocks_at(step, rest)) {
      add(block, "temporaries");
      rest -= block;
    }
    if (rest.value != 0) add(rest, "temporaries");
  }

  // The blocks that lie there when they first add up to so much; none where they never do. Which block a step
  // gives back follows simulator/memory/allocations/temporary_blocks.cpp.
  std::vector<Bytes> blocks_at(const ProgramStep& step, Bytes highest) const {
    std::vector<Bytes> blocks;
    Bytes sum;
    for (std::uint32_t i = step.blocks_begin; i < step.blocks_end; ++i) {
      const Bytes change = run_.program.blocks[i];
      if (change == k_freed_here || is_result_block(change) || is_given_extra_block(change)) continue;
      sum += change;
      if (change > Bytes{}) blocks.push_back(change);
      if (change < Bytes{}) give(blocks, -change);
      if (sum == highest && !blocks.empty()) return blocks;
    }
    return {};
  }

  static void give(std::vector<Bytes>& blocks, Bytes bytes) {
    while (bytes > Bytes{}) {
      auto chosen = blocks.end();
      for (auto each = blocks.begin(); each != blocks.end(); ++each)
        if (*each <= bytes && (chosen == blocks.end() || *each > *chosen)) chosen = each;
      if (chosen == blocks.end()) return;
      bytes -= *chosen;
      blocks.erase(chosen);
    }
  }

  const PeakContext& context_;
  const Instruction& instruction_;
  const SegmentRun run_;
  const int workspaces_;
  std::vector<std::vector<GradientPart>> gradients_;  // by step
  std::vector<PartCollector> collectors_;             // by class
};

}  // namespace

PartsByClass instruction_parts(const PeakContext& context, InstructionId id, int workspaces) {
  const Instruction& instruction = context.plan.instruction(id);
  if (runs_segment(instruction.kind)) return ProgramAtPeak(context, instruction, workspaces).parts();
  std::vector<PartCollector> collectors(k_buffer_classes, PartCollector(context));
  for (const auto* list : {&instruction.frees, &instruction.allocates})
    for (const BufferId buffer : *list)
      collectors[static_cast<std::size_t>(context.plan.buffer(buffer).buffer_class)].add(buffer);
  PartsByClass parts;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) parts[i] = collectors[i].parts();
  return parts;
}

}  // namespace shardlab
