// Forward, Recompute and Backward: runs the program of a segment, operator by operator.
#include <ATen/ops/add.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/SmallVector.h>

#include "engine/execute/mask_seeds.h"
#include "engine/execute/torch/instructions/segment_program.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/model/operators/operator_type.h"
#include "engine/model/segment/program.h"

namespace shardlab {
namespace {

using TensorList = c10::SmallVector<at::Tensor, 8>;

class SegmentAction : public Action {
 public:
  SegmentAction(const Site& site, BoundProgram program)
      : run_(site.run),
        program_(std::move(program)),
        backward_(site.instruction().kind == InstructionKind::Backward),
        first_forward_(site.instruction().kind == InstructionKind::Forward),
        micro_batch_(static_cast<std::size_t>(site.instruction().micro_batch.value_or(0))),
        seed_(1.0 / micro_batches_of_step(site.run.planned.scenario)) {
    values_.resize(program_.values.size());
  }

  void run(StepContext& step) override {
    step_ = step.step;
    for (const BoundView& view : program_.parameters) parameters_.push_back(make_view(view));
    gradients_.resize(program_.gradients.size());
    enter();
    for (const BoundStep& bound : program_.steps) {
      if (!allocates_itself(bound)) allocate_results(bound);
      for (const NewGradient& gradient : bound.new_gradients) allocate_gradient(gradient);
      run_step(bound);
      for (const ValueIndex value : bound.step->frees) free_value(value);
    }
    leave(step);
  }

 private:
  at::Tensor make_view(const BoundView& view) const {
    const at::Tensor flat = run_.buffers.range(view.slot, view.offset, view.elements);
    return at::as_strided(flat, view.sizes, view.strides, flat.storage_offset());
  }

  // There once a step has allocated it.
  const at::Tensor& gradient(std::uint32_t index) {
    if (!gradients_[index].defined()) gradients_[index] = make_view(program_.gradients[index]);
    return gradients_[index];
  }

  void allocate_gradient(const NewGradient& gradient) {
    run_.buffers.allocate_part(gradient.slot, gradient.part);
    run_.buffers.poison(run_.buffers.parts(gradient.slot)[gradient.part]);
    for (const ElementRange& range : gradient.padding)
      run_.buffers.range(gradient.slot, range.to, range.count).zero_();
  }

  // Takes up what exists already. What this program frees is taken out of the table, so that dropping it here
  // frees it.
  void enter() {
    std::vector<at::Tensor>* bundle =
        backward_ && program_.saved != k_no_slot ? &run_.buffers.bundle(program_.saved) : nullptr;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const BoundValue& value = program_.values[i];
      if (value.made_here) continue;
      if (value.slot != k_no_slot) values_[i] = run_.buffers.tensor(value.slot);
      if (value.origin == ValueOrigin::saved) values_[i] = std::move((*bundle)[value.saved]);
    }
    if (bundle != nullptr) bundle->clear();
    for (const Slot slot : program_.incoming) run_.buffers.take(slot);
  }

  void allocate(ValueIndex index) {
    const BoundValue& value = program_.values[index];
    if (value.slot != k_no_slot) {
      run_.buffers.allocate(value.slot);
      values_[index] = run_.buffers.tensor(value.slot);
      run_.buffers.poison(value.slot);
      return;
    }
    const BufferClassScope booked(value.buffer_class);
    values_[index] = at::empty(value.sizes, at::TensorOptions(value.dtype).device(run_.buffers.device()));
    run_.buffers.poison(values_[index]);
  }

  static bool allocates_itself(const BoundStep& bound) { return bound.step->temporaries_before > Bytes{}; }
  void allocate_results(const BoundStep& bound) {
    for (const ValueIndex value : bound.step->allocates) allocate(value);
  }

  // Unless its operator gave it back.
  void free_value(ValueIndex index) {
    if (values_[index].defined()) release_storage(values_[index]);
  }

  void run_step(const BoundStep& bound) {
    if (!run_.operator_clock) return call(bound);
    run_.operator_clock->begin();
    call(bound);
    run_.operator_clock->end(step_operation(run_.planned.graph, *bound.step), backward_);
  }

  void call(const BoundStep& bound) {
    switch (bound.step->kind) {
      case StepKind::forward: run_forward(bound); break;
      case StepKind::backward: run_backward(bound); break;
      case StepKind::accumulate: accumulate(*bound.step); break;
      case StepKind::copy: values_[bound.step->results[0]].copy_(values_[bound.step->operands[0]]); break;
    }
  }

  template <typename Indices>
  TensorList pick(const Indices& indices) const {
    TensorList list;
    for (const ValueIndex index : indices)
      list.push_back(index == k_no_value ? at::Tensor() : values_[index]);
    return list;
  }

  TensorList parameters_of(const BoundStep& bound) const {
    TensorList list;
    for (const std::uint32_t view : bound.parameters) list.push_back(parameters_[view]);
    return list;
  }

  void run_forward(const BoundStep& bound) {
    const TensorList inputs = pick(bound.step->operands);
    const TensorList outputs = pick(bound.step->results);
    const TensorList extras = pick(bound.step->extras);
    const TensorList parameters = parameters_of(bound);
    const std::vector<std::uint64_t> seeds = seeds_of(bound);
    bound.implementation->forward(
        {*bound.op, run_.planned.graph, inputs, parameters, outputs, extras, seeds});
    const std::optional<std::size_t> counts = bound.op->type->expert_counts;
    if (first_forward_ && counts) count_experts(bound.step->op, outputs[*counts]);
  }

  std::vector<std::uint64_t> seeds_of(const BoundStep& bound) const {
    if (bound.op->attributes.get_or(attribute::k_dropout, 0.0) == 0) return {};
    return mask_seeds(run_.planned.scenario, step_, run_.rank, static_cast<int>(micro_batch_),
                      bound.step->op.index());
  }

  // Added up where they are made: on a device nobody waits for them before the run is over.
  void count_experts(OperatorId op, const at::Tensor& counts) {
    at::Tensor& total = run_.expert_counts[op];
    if (!total.defined()) {
      const MemoryLedger uncounted;  // eight bytes an expert, which no plan knows
      const LedgerScope scope(uncounted);
      total = at::zeros_like(counts);
    }
    total.add_(counts);
  }

  void run_backward(const BoundStep& bound) {
    const TensorList output_gradients = pick(bound.step->operands);
    const TensorList saved_inputs = pick(bound.step->saved_inputs);
    const TensorList saved_outputs = pick(bound.step->saved_outputs);
    const TensorList extras = pick(bound.step->extras);
    TensorList input_gradients = pick(bound.step->results);
    const TensorList parameters = parameters_of(bound);
    c10::SmallVector<ParameterGradient, 4> gradients;
    for (std::size_t i = 0; i < bound.gradients.size(); ++i) {
      const bool wanted = bound.gradients[i] != k_no_value;
      gradients.push_back({wanted ? gradient(bound.gradients[i]) : at::Tensor(), bound.accumulate[i]});
    }
    const double seed = run_.loss_scale ? seed_ * static_cast<double>(run_.loss_scale->value()) : seed_;
    BackwardArguments arguments{*bound.op,       run_.planned.graph, output_gradients, seed,
                                saved_inputs,    saved_outputs,      parameters,       extras,
                                input_gradients, gradients};
    arguments.give_extra = [&](std::size_t extra) { free_value(bound.step->extras[extra]); };
    if (allocates_itself(bound)) {
      arguments.wanted = wanted_results(*bound.step);
      arguments.allocate_input_gradients = [&] {
        allocate_results(bound);
        for (std::size_t i = 0; i < input_gradients.size(); ++i) {
          if (bound.step->results[i] != k_no_value) input_gradients[i] = values_[bound.step->results[i]];
        }
      };
    }
    bound.implementation->backward(arguments);
  }

  static InputMask wanted_results(const ProgramStep& step) {
    InputMask wanted = 0;
    for (std::size_t i = 0; i < step.results.size(); ++i) wanted |= (step.results[i] != k_no_value) << i;
    return wanted;
  }

  void accumulate(const ProgramStep& step) {
    at::Tensor& result = values_[step.results[0]];
    if (step.operands.size() == 2) {
      at::add_out(result, values_[step.operands[0]], values_[step.operands[1]]);
    } else {
      result.add_(values_[step.operands[0]]);
    }
  }

  void read_loss(StepContext& step) {
    step.late->read(values_[program_.loss],
                    [&step, at = micro_batch_](double value) { step.losses[at] = value; });
  }

  // Hands over what outlives the program and lets go of the rest.
  void leave(StepContext& step) {
    if (program_.loss != k_no_value) {
      if (step.losses.size() <= micro_batch_) step.losses.resize(micro_batch_ + 1);
      read_loss(step);
    }
    if (!backward_ && program_.saved != k_no_slot) {
      std::vector<at::Tensor>& bundle = run_.buffers.bundle(program_.saved);
      for (const ValueIndex value : program_.keeps) bundle.push_back(std::move(values_[value]));
    }
    for (at::Tensor& value : values_) value.reset();
    parameters_.clear();
    gradients_.clear();
  }

  RunState& run_;
  const BoundProgram program_;
  const bool backward_;
  const bool first_forward_;  // not one that is run again
  const std::size_t micro_batch_;
  const double seed_;
  std::int64_t step_ = 0;           // that runs
  std::vector<at::Tensor> values_;  // by ValueIndex; empty between runs
  std::vector<at::Tensor> parameters_, gradients_;
};

}  // namespace

PreparedAction prepare_segment(const Site& site) {
  SHARDLAB_TRY(BoundProgram program, bind_program(site));
  return std::make_unique<SegmentAction>(site, std::move(program));
}

}  // namespace shardlab
