// OptimizerStep: AdamW (libtorch's fused kernel) or SGD on the parameters this rank holds.
//
// Where parameters and gradients lie alike, a whole buffer is one tensor for the kernel; padding is zero and
// stays zero.
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/scalar_tensor.h>

#include <fmt/format.h>

#include "engine/execute/torch/instructions/parameter_ranges.h"
#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {
namespace {

// What one unit's update reads and writes. Ranges lead from the gradient to parameters and states, which lie
// alike.
struct Update {
  Slot parameters = k_no_slot;
  Slot gradients = k_no_slot;
  Slot average = k_no_slot;         // exp_avg, none with SGD
  Slot average_square = k_no_slot;  // exp_avg_sq
  std::vector<ElementRange> ranges;
};

struct TensorLists {
  std::vector<at::Tensor> parameters, gradients, averages, average_squares, steps;
};

class OptimizerStep : public Action {
 public:
  OptimizerStep(const Site& site, std::vector<Update> updates, std::vector<Slot> new_states)
      : buffers_(site.run.buffers),
        train_(site.run.planned.scenario.train),
        updates_(std::move(updates)),
        new_states_(std::move(new_states)) {}

  void run(StepContext& step) override {
    for (const Slot state : new_states_) buffers_.tensor(state).zero_();
    const at::Tensor count = step_count(step.step + 1);
    TensorLists lists;
    for (const Update& update : updates_) {
      for (const ElementRange& range : update.ranges) append(lists, update, range, count);
    }
    if (train_.optimizer == "sgd") {
      at::_fused_sgd_(lists.parameters, lists.gradients, {}, train_.weight_decay, /*momentum=*/0.0,
                      step.learning_rate,
                      /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
    } else {
      at::_fused_adamw_(lists.parameters, lists.gradients, lists.averages, lists.average_squares, {},
                        lists.steps, step.learning_rate, train_.betas[0], train_.betas[1],
                        train_.weight_decay, train_.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false);
    }
  }

 private:
  // The step counter is four bytes a run, not a buffer of the plan.
  static at::Tensor step_count(std::int64_t count) {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    return at::scalar_tensor(static_cast<double>(count), at::kFloat);
  }

  void append(TensorLists& lists, const Update& update, const ElementRange& range, const at::Tensor& count) {
    lists.parameters.push_back(buffers_.tensor(update.parameters).narrow(0, range.to, range.count));
    lists.gradients.push_back(buffers_.tensor(update.gradients).narrow(0, range.from, range.count));
    if (update.average == k_no_slot) return;
    lists.averages.push_back(buffers_.tensor(update.average).narrow(0, range.to, range.count));
    lists.average_squares.push_back(buffers_.tensor(update.average_square).narrow(0, range.to, range.count));
    lists.steps.push_back(count);
  }

  BufferTable& buffers_;
  const TrainSpec& train_;
  const std::vector<Update> updates_;
  const std::vector<Slot> new_states_;
};

bool is_parameters(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::parameter || buffer.buffer_class == BufferClass::parameter_shard;
}
bool is_gradients(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard;
}

// The state buffer that lies like the parameters and whose name begins with the prefix.
Slot find_state(const Site& site, const Buffer& parameters, std::string_view prefix) {
  for (const BufferId id : site.instruction().writes) {
    const Buffer& buffer = site.buffer(id);
    if (buffer.buffer_class == BufferClass::optimizer_state && buffer.name.starts_with(prefix) &&
        buffer.parameters == parameters.parameters && buffer.layout == parameters.layout) {
      return site.slot(id);
    }
  }
  return k_no_slot;
}

Status append_updates(const Site& site, BufferId parameters, std::vector<Update>& updates) {
  const Buffer& held = site.buffer(parameters);
  Update update;
  update.parameters = site.slot(parameters);
  if (site.run.planned.scenario.train.optimizer != "sgd") {
    update.average = find_state(site, held, "exp_avg.");
    update.average_square = find_state(site, held, "exp_avg_sq.");
    if (update.average == k_no_slot || update.average_square == k_no_slot) {
      return site.defect(fmt::format("no optimizer state for {}", held.name));
    }
  }
  for (const BufferId id : site.instruction().reads) {
    const Buffer& gradients = site.buffer(id);
    if (!is_gradients(gradients)) continue;
    update.ranges = common_ranges(site.run, gradients, held);
    if (update.ranges.empty()) continue;
    if (gradients.dtype != held.dtype) {
      return site.defect(fmt::format("{} is {}, its gradient {} is {}", held.name, to_string(held.dtype),
                                     gradients.name, to_string(gradients.dtype)));
    }
    update.gradients = site.slot(id);
    updates.push_back(update);
  }
  return {};
}

}  // namespace

PreparedAction prepare_optimizer_step(const Site& site) {
  std::vector<Update> updates;
  std::vector<Slot> new_states;
  for (const BufferId id : site.instruction().writes) {
    if (is_parameters(site.buffer(id))) SHARDLAB_CHECK_OK(append_updates(site, id, updates));
  }
  for (const BufferId id : site.instruction().allocates) new_states.push_back(site.slot(id));
  if (updates.empty()) return site.defect("updates nothing");
  return std::make_unique<OptimizerStep>(site, std::move(updates), std::move(new_states));
}

}  // namespace shardlab
