// Forward programs of a segment: operators in order; a value is freed after its last reader unless backward
// or the outside needs it, in an eager graph when the modules have returned that were called with it.
#include <algorithm>

#include "engine/model/segment/lowering.h"
#include "engine/model/segment/module_calls.h"

namespace shardlab {
namespace {

class ForwardLowering {
 public:
  ForwardLowering(const ModelGraph& graph, const SegmentBorders& borders,
                  const SegmentDescriptions& descriptions, ForwardPass pass, SegmentPrograms& programs)
      : graph_(graph),
        borders_(borders),
        descriptions_(descriptions),
        again_(pass == ForwardPass::recomputing),
        keeps_(pass != ForwardPass::unkept),
        stop_(again_ ? std::clamp(borders.recomputation->stop, borders.begin, borders.end) : borders.end),
        programs_(programs),
        program_(again_ ? programs.recompute : programs.forward) {}

  void lower() {
    program_.steps.reserve(stop_.index() - borders_.begin.index());
    count_readers();
    for (OperatorId id = borders_.begin; id < stop_; ++id.value) lower(id);
    // What backward reads of operators that need not run again was made by those before them.
    for (OperatorId id = stop_; keeps_ && id < borders_.end; ++id.value) keep_inputs(id);
    if (again_) find_backward_frees();
  }

 private:
  void count_readers() {
    for (OperatorId id = borders_.begin; id < stop_; ++id.value) {
      if (is_reused(id)) continue;
      for (const TensorId input : graph_.op(id).inputs) {
        Local& local = locals_.at(input);
        ++local.readers;
        if (local.maker) local.held_until = std::max(local.held_until, calls_.end_of(*local.maker, id));
      }
      for (const TensorId output : graph_.op(id).outputs) locals_.at(output).maker = id;
    }
  }

  struct Local {
    ValueIndex value = k_no_value;
    int readers = 0;
    std::optional<OperatorId> maker;  // where it is an operator of this program
    OperatorId held_until{0};         // the last operator of those that its readers' modules run
  };

  ValueIndex add_value(ProgramValue value) {
    program_.values.push_back(std::move(value));
    return static_cast<ValueIndex>(program_.values.size() - 1);
  }

  ValueIndex value_of(TensorId tensor) {
    Local& local = locals_.at(tensor);
    if (local.value == k_no_value)
      local.value = add_value(tensor_value(graph_, tensor, ValueOrigin::tensor_buffer));
    return local.value;
  }

  bool is_reused(OperatorId id) const { return again_ && borders_.retains(id); }

  // What a retained operator made is there; what it read may have to be made for its backward.
  void reuse(OperatorId id) {
    const Operator& op = graph_.op(id);
    const OperatorDescription& description = descriptions_.of(id);
    keep_inputs(id);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (description.saved_outputs >> i & 1U) keep_value(value_of(op.outputs[i]));
    }
    if (!description.has_backward) return;
    for (const TensorId extra : op.extra_tensors) push_unique(programs_.backward_reads, extra);
  }

  void lower(OperatorId id) {
    if (is_reused(id)) return reuse(id);
    const Operator& op = graph_.op(id);
    const OperatorDescription& description = descriptions_.of(id);
    const bool retained = borders_.retains(id);
    ProgramStep step;
    step.op = id;
    append_work(program_, step, description.forward);
    step.workspace = description.forward_workspace;
    step.temporaries = description.forward_temporaries;
    append_blocks(program_, step, description.forward_blocks);
    for (const TensorId input : op.inputs) step.operands.push_back(value_of(input));
    for (const TensorId output : op.outputs) make_output(output, retained, step);
    for (std::size_t i = 0; i < description.extras.size(); ++i) {
      const ValueIndex value =
          add_value(retained ? tensor_value(graph_, op.extra_tensors[i], ValueOrigin::tensor_buffer)
                             : extra_value(description.extras[i], op.outputs[0], ValueOrigin::internal));
      step.extras.push_back(value);
      step.allocates.push_back(value);
      if (!retained && (!keeps_ || !description.has_backward)) step.frees.push_back(value);
    }
    for (const TensorId input : op.inputs) release(input, id, step);
    free_what_calls_held(id, step);
    if (keeps_) keep(id, step);
    program_.steps.push_back(std::move(step));
  }

  void make_output(TensorId output, bool retained, ProgramStep& step) {
    const bool leaves = retained || leaves_program(output);
    const ValueOrigin origin = leaves ? ValueOrigin::tensor_buffer : ValueOrigin::internal;
    const ValueIndex value = add_value(tensor_value(graph_, output, origin));
    if (again_ && origin == ValueOrigin::tensor_buffer) programs_.recomputed_outputs.push_back(output);
    Local& local = locals_.at(output);
    local.value = value;
    step.results.push_back(value);
    step.allocates.push_back(value);
    if (local.readers == 0 && origin == ValueOrigin::internal && !is_kept(output))
      step.frees.push_back(value);
  }

  bool leaves_program(TensorId output) const {
    const auto border = std::find(borders_.outputs.begin(), borders_.outputs.end(), output);
    if (border == borders_.outputs.end()) return false;
    return !again_ ||
           borders_.recomputation->into_buffer[static_cast<std::size_t>(border - borders_.outputs.begin())];
  }

  bool is_kept(TensorId tensor) const { return keeps_ && descriptions_.is_saved(tensor); }

  void release(TensorId input, OperatorId reader, ProgramStep& step) {
    Local& local = locals_.at(input);
    const bool internal = program_.values[local.value].origin == ValueOrigin::internal;
    if (--local.readers > 0 || is_kept(input)) return;
    if (internal && local.held_until > reader) return held_.push_back({local.held_until, local.value});
    if (internal) step.frees.push_back(local.value);
    if (!again_ || !is_retained(input) || is_border(input)) return;
    step.frees.push_back(local.value);
    programs_.recompute_frees.push_back(input);
  }

  // Arguments of modules that return with this operator; of all with the last one that runs.
  void free_what_calls_held(OperatorId id, ProgramStep& step) {
    const bool last = id.value + 1 == stop_.value;
    std::erase_if(held_, [&](const auto& held) {
      if (held.first > id && !last) return false;
      step.frees.push_back(held.second);
      return true;
    });
  }

  bool is_border(TensorId tensor) const {
    return std::find(borders_.outputs.begin(), borders_.outputs.end(), tensor) != borders_.outputs.end();
  }
  bool is_retained(TensorId tensor) const {
    return std::find(borders_.retained.begin(), borders_.retained.end(), tensor) != borders_.retained.end();
  }

  void find_backward_frees() {
    for (const TensorId tensor : borders_.retained) {
      const auto& freed = programs_.recompute_frees;
      if (std::find(freed.begin(), freed.end(), tensor) == freed.end())
        programs_.backward_frees.push_back(tensor);
    }
  }

  // Records what backward will read, each storage once, in order of first mention.
  void keep(OperatorId id, const ProgramStep& step) {
    const Operator& op = graph_.op(id);
    const OperatorDescription& description = descriptions_.of(id);
    keep_inputs(id);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (description.saved_outputs >> i & 1U) keep_value(step.results[i]);
    }
    if (!description.has_backward) return;
    for (const ValueIndex extra : step.extras) keep_value(extra);
  }

  void keep_inputs(OperatorId id) {
    const Operator& op = graph_.op(id);
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (descriptions_.of(id).saved_inputs >> i & 1U) keep_value(value_of(op.inputs[i]));
    }
  }

  void keep_value(ValueIndex value) {
    const ProgramValue& kept = program_.values[value];
    if (kept.origin == ValueOrigin::tensor_buffer) {
      push_unique(programs_.backward_reads, kept.tensor);
    } else if (push_unique(programs_.keeps, value)) {
      programs_.saved_bytes += kept.bytes;
    }
  }

  const ModelGraph& graph_;
  const SegmentBorders& borders_;
  const SegmentDescriptions& descriptions_;
  const bool again_, keeps_;
  const OperatorId stop_;
  SegmentPrograms& programs_;
  Program& program_;
  TensorTable<Local> locals_{graph_, borders_};
  ModuleCalls calls_{graph_, stop_};
  std::vector<std::pair<OperatorId, ValueIndex>> held_;
};

}  // namespace

void lower_forward(const ModelGraph& graph, const SegmentBorders& borders,
                   const SegmentDescriptions& descriptions, ForwardPass pass, SegmentPrograms& programs) {
  ForwardLowering(graph, borders, descriptions, pass, programs).lower();
}

}  // namespace shardlab
