// Backward program of a segment: operators in reverse order.
//
// A gradient is a storage that one or several tensors refer to (a residual passes its gradient on to both
// inputs without a copy). Where a second contribution meets a first, the sum is made in place in a storage
// nobody else refers to. What forward kept is freed after its last reader. Operators through which no
// required gradient flows have no step.
#include <algorithm>

#include "engine/model/segment/lowering.h"

namespace shardlab {
namespace {

class BackwardLowering {
 public:
  BackwardLowering(const ModelGraph& graph, const SegmentBorders& borders,
                   const SegmentDescriptions& descriptions, SegmentPrograms& programs)
      : graph_(graph),
        borders_(borders),
        descriptions_(descriptions),
        programs_(programs),
        program_(programs.backward) {}

  void lower() {
    program_.steps.reserve(borders_.end.index() - borders_.begin.index());
    add_saved_values();
    add_incoming_gradients();
    add_existing_gradients();
    for (std::uint32_t at = borders_.end.value; at > borders_.begin.value; --at) lower(OperatorId{at - 1});
    export_gradients();
    free_unread();
  }

 private:
  struct Local {
    ValueIndex kept = k_no_value;  // the tensor's value as backward sees it
    int saving = 0;                // operators still to read it
    ValueIndex gradient = k_no_value;
    bool into_existing = false;  // contributions go to a gradient that a later segment made
  };

  ValueIndex add_value(ProgramValue value) {
    program_.values.push_back(std::move(value));
    references_.push_back(0);
    return static_cast<ValueIndex>(program_.values.size() - 1);
  }

  void add_saved_values() {
    std::uint32_t position = 0;
    for (const ValueIndex kept : programs_.keeps) {
      ProgramValue value = programs_.keeper().values[kept];
      value.origin = ValueOrigin::saved;
      value.saved = position++;
      const ValueIndex index = add_value(value);
      if (value.extra) {
        extras_.push_back({value.tensor, index});
      } else {
        locals_.at(value.tensor).kept = index;
        locals_.at(value.tensor).saving = descriptions_.saving_operators(value.tensor);
      }
    }
    for (const TensorId tensor : programs_.backward_reads) {
      locals_.at(tensor).kept = add_value(tensor_value(graph_, tensor, ValueOrigin::tensor_buffer));
      if (is_freed_here(tensor)) locals_.at(tensor).saving = descriptions_.saving_operators(tensor);
    }
  }

  bool is_freed_here(TensorId tensor) const {
    const auto& freed = programs_.backward_frees;
    return std::find(freed.begin(), freed.end(), tensor) != freed.end();
  }

  // Retained tensors that nothing here reads live as long as the others of their region.
  void free_unread() {
    if (program_.steps.empty()) return programs_.backward_frees.clear();
    for (const TensorId tensor : programs_.backward_frees) {
      if (locals_.at(tensor).kept != k_no_value) continue;
      program_.steps.back().frees.push_back(
          add_value(tensor_value(graph_, tensor, ValueOrigin::tensor_buffer)));
    }
  }

  ProgramValue gradient_value(TensorId tensor, ValueOrigin origin) const {
    ProgramValue value = tensor_value(graph_, tensor, origin);
    value.gradient = true;
    return value;
  }

  void add_incoming_gradients() {
    for (const TensorId tensor : borders_.outputs) {
      if (!graph_.tensor(tensor).requires_grad || tensor == graph_.loss) continue;
      programs_.gradient_inputs.push_back(tensor);
      refer(tensor, add_value(gradient_value(tensor, ValueOrigin::gradient_buffer)));
    }
  }

  void add_existing_gradients() {
    for (std::size_t i = 0; i < borders_.inputs.size(); ++i) {
      const TensorId tensor = borders_.inputs[i];
      if (!graph_.tensor(tensor).requires_grad) continue;
      programs_.gradient_outputs.push_back(tensor);
      programs_.gradient_accumulates.push_back(borders_.consumed_later[i]);
      if (!borders_.consumed_later[i]) continue;
      refer(tensor, add_value(gradient_value(tensor, ValueOrigin::gradient_buffer)));
      locals_.at(tensor).into_existing = true;
    }
  }

  void refer(TensorId tensor, ValueIndex gradient) {
    locals_.at(tensor).gradient = gradient;
    ++references_[gradient];
  }

  // Drops one reference; a gradient nobody refers to is freed after the step.
  void drop(ValueIndex gradient, ProgramStep& step) {
    if (--references_[gradient] == 0) step.frees.push_back(gradient);
  }

  void lower(OperatorId id) {
    const Operator& op = graph_.op(id);
    const OperatorDescription& description = descriptions_.of(id);
    if (!description.has_backward) return;
    ProgramStep step;
    step.kind = StepKind::backward;
    step.op = id;
    append_work(program_, step, description.backward);
    step.workspace = description.backward_workspace;
    step.temporaries = description.backward_temporaries;
    step.temporaries_before = description.backward_temporaries_before;
    step.given = description.backward_given;
    step.given_before = description.backward_given_before;
    append_blocks(program_, step, description.backward_blocks);
    for (const TensorId output : op.outputs) step.operands.push_back(locals_.at(output).gradient);
    collect_saved(op, description, step);
    std::vector<std::pair<TensorId, ValueIndex>> contributions;
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      contributions.emplace_back(op.inputs[i], contribution(op, description, i, step));
    release_saved(op, description, step);
    for (const TensorId output : op.outputs) {
      if (locals_.at(output).gradient != k_no_value) consumed_.push_back(locals_.at(output).gradient);
    }
    finish_step(std::move(step), contributions);
  }

  void collect_saved(const Operator& op, const OperatorDescription& description, ProgramStep& step) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      step.saved_inputs.push_back(description.saved_inputs >> i & 1U ? locals_.at(op.inputs[i]).kept
                                                                     : k_no_value);
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      step.saved_outputs.push_back(description.saved_outputs >> i & 1U ? locals_.at(op.outputs[i]).kept
                                                                       : k_no_value);
    }
    for (const auto& [tensor, value] : extras_) {
      if (tensor == op.outputs[0]) step.extras.push_back(value);
    }
    for (const TensorId extra : op.extra_tensors) step.extras.push_back(locals_.at(extra).kept);
  }

  // The storage that will hold this operator's gradient for input i.
  ValueIndex contribution(const Operator& op, const OperatorDescription& description, std::size_t i,
                          ProgramStep& step) {
    const TensorId input = op.inputs[i];
    if (!graph_.tensor(input).requires_grad) {
      step.results.push_back(description.computed_gradients >> i & 1U ? unwanted(input, step) : k_no_value);
      return k_no_value;
    }
    if (description.passed_gradients >> i & 1U) {
      step.results.push_back(step.operands[0]);
      return step.operands[0];
    }
    const Local& local = locals_.at(input);
    const bool overwrite = (description.overwritten_inputs >> i & 1U) && local.saving == 1 &&
                           program_.values[local.kept].origin == ValueOrigin::saved;
    const ValueIndex value = overwrite ? local.kept : add_value(gradient_value(input, ValueOrigin::internal));
    if (!overwrite) step.allocates.push_back(value);
    step.results.push_back(value);
    return value;
  }

  // A gradient that the operator computes along with others and nobody reads.
  ValueIndex unwanted(TensorId input, ProgramStep& step) {
    const ValueIndex value = add_value(gradient_value(input, ValueOrigin::internal));
    step.allocates.push_back(value);
    step.frees.push_back(value);
    return value;
  }

  void release_saved(const Operator& op, const OperatorDescription& description, ProgramStep& step) {
    const auto release = [&](TensorId tensor) {
      Local& local = locals_.at(tensor);
      if (local.kept == k_no_value) return;
      if (program_.values[local.kept].origin != ValueOrigin::saved && !is_freed_here(tensor)) return;
      const bool became_gradient =
          std::find(step.results.begin(), step.results.end(), local.kept) != step.results.end();
      if (--local.saving == 0 && !became_gradient) step.frees.push_back(local.kept);
    };
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (description.saved_inputs >> i & 1U) release(op.inputs[i]);
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (description.saved_outputs >> i & 1U) release(op.outputs[i]);
    }
    for (const ValueIndex extra : step.extras) step.frees.push_back(extra);
  }

  // Books the contributions, adding where a gradient exists already, and drops the consumed gradients of the
  // outputs.
  void finish_step(ProgramStep step, const std::vector<std::pair<TensorId, ValueIndex>>& contributions) {
    std::vector<ProgramStep> sums;
    for (const auto& [tensor, value] : contributions) {
      if (value == k_no_value) continue;
      ++references_[value];
      if (locals_.at(tensor).gradient == k_no_value) {
        locals_.at(tensor).gradient = value;
      } else {
        sums.push_back(accumulate(tensor, value));
      }
    }
    ProgramStep& last = sums.empty() ? step : sums.back();
    for (const ValueIndex gradient : consumed_) drop(gradient, last);
    consumed_.clear();
    program_.steps.push_back(std::move(step));
    for (ProgramStep& sum : sums) program_.steps.push_back(std::move(sum));
  }

  ProgramStep accumulate(TensorId tensor, ValueIndex incoming) {
    Local& local = locals_.at(tensor);
    ProgramStep step;
    step.kind = StepKind::accumulate;
    const bool into_incoming = !local.into_existing && references_[incoming] == 1 && !is_consumed(incoming);
    const ValueIndex target = into_incoming ? incoming : writable(local.gradient, step);
    const ValueIndex source = into_incoming ? local.gradient : incoming;
    step.operands = {source};
    if (target != local.gradient && !into_incoming) step.operands.push_back(local.gradient);
    step.results = {target};
    Work sum;
    sum.bytes = program_.values[target].bytes * 3;
    append_work(program_, step, {sum});
    if (target != local.gradient && !into_incoming) drop(local.gradient, step);
    drop(source, step);
    local.gradient = target;
    return step;
  }

  bool is_consumed(ValueIndex value) const {
    return std::find(consumed_.begin(), consumed_.end(), value) != consumed_.end();
  }

  // The gradient itself when only one tensor refers to it, else a fresh storage (the sum is then out of
  // place).
  ValueIndex writable(ValueIndex gradient, ProgramStep& step) {
    if (references_[gradient] == 1) return gradient;
    ProgramValue value = program_.values[gradient];
    value.origin = ValueOrigin::internal;
    const ValueIndex fresh = add_value(value);
    references_[fresh] = 1;
    step.allocates.push_back(fresh);
    return fresh;
  }

  // A gradient that leaves the segment needs a storage of its own.
  void export_gradients() {
    for (const TensorId tensor : programs_.gradient_outputs) {
      Local& local = locals_.at(tensor);
      if (local.into_existing) continue;
      const ProgramValue& value = program_.values[local.gradient];
      if (references_[local.gradient] == 1 && value.origin == ValueOrigin::internal) continue;
      export_copy(tensor, local);
    }
    for (const TensorId tensor : programs_.gradient_outputs) export_in_place(tensor, locals_.at(tensor));
  }

  void export_copy(TensorId tensor, Local& local) {
    ProgramStep step;
    step.kind = StepKind::copy;
    const ValueIndex fresh = add_value(gradient_value(tensor, ValueOrigin::internal));
    references_[fresh] = 1;
    step.operands = {local.gradient};
    step.results = {fresh};
    step.allocates = {fresh};
    Work copy;
    copy.bytes = program_.values[fresh].bytes * 2;
    append_work(program_, step, {copy});
    drop(local.gradient, step);
    local.gradient = fresh;
    program_.steps.push_back(std::move(step));
  }

  // The storage may have been made for another tensor that passed its gradient on.
  void export_in_place(TensorId tensor, const Local& local) {
    ProgramValue& value = program_.values[local.gradient];
    value.tensor = tensor;
    value.origin = ValueOrigin::gradient_buffer;
    value.gradient = true;
  }

  const ModelGraph& graph_;
  const SegmentBorders& borders_;
  const SegmentDescriptions& descriptions_;
  SegmentPrograms& programs_;
  Program& program_;
  TensorTable<Local> locals_{graph_, borders_};
  std::vector<std::pair<TensorId, ValueIndex>> extras_;
  std::vector<int> references_;
  std::vector<ValueIndex> consumed_;
};

}  // namespace

void lower_backward(const ModelGraph& graph, const SegmentBorders& borders,
                    const SegmentDescriptions& descriptions, SegmentPrograms& programs) {
  BackwardLowering(graph, borders, descriptions, programs).lower();
}

}  // namespace shardlab
