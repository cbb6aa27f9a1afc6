#include "engine/strategies/optimizer_tail.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "engine/plan/layout.h"
#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/host_state.h"
#include "engine/strategies/optimizer_states.h"

namespace shardlab {
namespace {

// Gradients that several units share are appended once.
void append_gradients(const TrainedUnit& unit, std::vector<BufferId>& buffers) {
  for (const BufferId gradient : unit.gradients) {
    if (std::find(buffers.begin(), buffers.end(), gradient) == buffers.end()) buffers.push_back(gradient);
  }
}

std::vector<BufferId> all_gradients(const std::vector<TrainedUnit>& units) {
  std::vector<BufferId> gradients;
  for (const TrainedUnit& unit : units) append_gradients(unit, gradients);
  return gradients;
}

Bytes total_bytes(StepBuilder& builder, const std::vector<BufferId>& buffers) {
  Bytes sum;
  for (const BufferId buffer : buffers) sum += builder.plan().buffer(buffer).bytes();
  return sum;
}

// On the host the ranks' numbers are awaited before anybody reads them.
void emit_joined(StepBuilder& builder, const TrainedState& trained, GroupId group, BufferId values,
                 ReduceOperation operation) {
  Instruction join;
  join.kind = InstructionKind::AllReduce;
  join.stream = trained.stream;
  join.group = group;
  join.reduce = operation;
  join.bytes = builder.plan().buffer(values).bytes();
  join.reads = join.writes = {values};
  const InstructionId joined = builder.emit(std::move(join));
  if (trained.space != MemorySpace::device) emit_host_wait(builder, trained.stream, joined);
}

// Numbers that the tail makes and drops.
Buffer scalars(const TrainedState& trained, BufferRole role, DType dtype, std::int64_t count) {
  Buffer buffer;
  buffer.role = role;
  buffer.name = to_string(role);
  buffer.buffer_class = BufferClass::scalar;
  buffer.dtype = dtype;
  buffer.elements = count;
  buffer.space = trained.space;
  buffer.stream = trained.stream;
  return buffer;
}

// GradScaler.unscale_ and ShardedGradScaler.unscale_ of torch 2.11: one flag for all gradients, added up over
// the ranks.
BufferId emit_unscaling(StepBuilder& builder, Strategy& strategy, const TrainedState& trained,
                        const std::vector<BufferId>& gradients) {
  builder.set_pass(PlanPass::scaler);
  const BufferId flag = builder.declare(scalars(trained, BufferRole::found_inf, DType::float32, 1));
  Instruction unscale;
  unscale.kind = InstructionKind::Unscale;
  unscale.stream = trained.stream;
  unscale.bytes = total_bytes(builder, gradients);
  unscale.reads = unscale.writes = gradients;
  unscale.writes.push_back(flag);
  unscale.allocates = {flag};
  builder.emit(std::move(unscale));
  if (const auto group = strategy.overflow_group())
    emit_joined(builder, trained, *group, flag, ReduceOperation::sum);
  return flag;
}

// What norms and the search for overflow go through.
Bytes looked_at(StepBuilder& builder, const TrainedState& trained, const std::vector<BufferId>& gradients) {
  if (!trained.looked_through) return total_bytes(builder, gradients);
  std::size_t parameters = 0;
  for (const BufferId gradient : gradients) parameters += builder.plan().buffer(gradient).parameters.size();
  return bytes_of(static_cast<std::int64_t>(parameters), trained.norm_dtype);
}

// What torch.isinf makes of a tensor: its absolute values, and a byte an element.
BufferId declare_masks(StepBuilder& builder, const TrainedState& trained,
                       const std::vector<BufferId>& gradients) {
  Buffer masks;
  masks.name = "overflow_masks";
  masks.dtype = DType::uint8;
  masks.space = trained.space;
  masks.stream = trained.stream;
  for (const BufferId gradient : gradients) {
    const Buffer& buffer = builder.plan().buffer(gradient);
    masks.elements += buffer.bytes().value + buffer.elements;
  }
  return builder.declare(std::move(masks));
}

// DeepSpeed's unscale_and_clip_grads where nothing is clipped.
void emit_late_unscaling(StepBuilder& builder, const TrainedState& trained,
                         const std::vector<BufferId>& gradients, std::optional<BufferId> flag) {
  builder.set_pass(PlanPass::scaler);
  Instruction unscale;
  unscale.kind = InstructionKind::Unscale;
  unscale.stream = trained.stream;
  unscale.bytes = total_bytes(builder, gradients);
  unscale.reads = unscale.writes = gradients;
  if (flag) {
    unscale.guard = Guard::gradients_finite;
    unscale.reads.push_back(*flag);
  }
  builder.emit(std::move(unscale));
}

// DeepSpeed 0.19.8, zero/stage_1_and_2.py (has_overflow): one byte, the largest of all ranks.
BufferId emit_overflow_check(StepBuilder& builder, const TrainedState& trained,
                             const std::vector<BufferId>& gradients) {
  builder.set_pass(PlanPass::scaler);
  const BufferId flag = builder.declare(scalars(trained, BufferRole::found_inf, DType::uint8, 1));
  Instruction check;
  check.kind = InstructionKind::CheckFinite;
  check.stream = trained.stream;
  check.bytes = looked_at(builder, trained, gradients);
  check.reads = gradients;
  check.writes = check.allocates = {flag};
  if (trained.masks_overflow) {
    check.frees = {declare_masks(builder, trained, gradients)};
    check.writes.push_back(check.frees.front());
    check.allocates.push_back(check.frees.front());
  }
  builder.emit(std::move(check));
  if (trained.norm_group) emit_joined(builder, trained, *trained.norm_group, flag, ReduceOperation::maximum);
  return flag;
}

// Skipped where the flag is set.
void guard(Instruction& instruction, std::optional<BufferId> flag) {
  if (!flag) return;
  instruction.guard = Guard::gradients_finite;
  instruction.reads.push_back(*flag);
}

// torch.nn.utils.clip_grad_value_: every element on its own, no norms.
void emit_value_clipping(StepBuilder& builder, const TrainedState& trained,
                         const std::vector<BufferId>& gradients, std::optional<BufferId> flag) {
  builder.set_pass(PlanPass::clip);
  Instruction clip;
  clip.kind = InstructionKind::ClipGradients;
  clip.stream = trained.stream;
  clip.bytes = total_bytes(builder, gradients);
  clip.reads = clip.writes = gradients;
  guard(clip, flag);
  builder.emit(std::move(clip));
}

// FSDP2 sums one squared norm per trained parameter over the shard group, recorded as one all-reduce of 4
// bytes a parameter; FSDP1 and DeepSpeed one for all parameters.
// Where the gradients were squared before, `squares` are added up and dropped.
BufferId emit_norms(StepBuilder& builder, const TrainedState& trained, const std::vector<BufferId>& gradients,
                    int part = 0, const std::vector<BufferId>& squares = {}) {
  builder.set_pass(PlanPass::clip);
  const std::vector<Parameter>& parameters = builder.graph().parameters;
  const auto count =
      std::count_if(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.trainable; });
  Buffer numbers = scalars(trained, BufferRole::norms, trained.norm_dtype, trained.sums_one_norm ? 1 : count);
  if (part > 0) numbers.name += fmt::format(".{}", part);
  const BufferId norms = builder.declare(std::move(numbers));

  Instruction measure;
  measure.kind = InstructionKind::GradientNorms;
  measure.stream = trained.stream;
  measure.bytes = squares.empty() ? looked_at(builder, trained, gradients) : total_bytes(builder, squares);
  measure.reads = squares.empty() ? gradients : squares;
  measure.writes = measure.allocates = {norms};
  measure.frees = squares;
  builder.emit(std::move(measure));

  if (trained.norm_group) {
    emit_joined(builder, trained, *trained.norm_group, norms,
                trained.averages_norm ? ReduceOperation::average : ReduceOperation::sum);
  }
  return norms;
}

void emit_clipping(StepBuilder& builder, const TrainedState& trained, const std::vector<BufferId>& gradients,
                   const std::vector<BufferId>& norms, std::optional<BufferId> flag) {
  builder.set_pass(PlanPass::clip);
  Instruction clip;
  clip.kind = InstructionKind::ClipGradients;
  clip.stream = trained.stream;
  clip.bytes = total_bytes(builder, gradients);
  clip.reads = gradients;
  clip.reads.insert(clip.reads.end(), norms.begin(), norms.end());
  clip.writes = gradients;
  guard(clip, flag);
  builder.emit(std::move(clip));
}

using TensorSizes = std::vector<std::pair<ParameterId, std::int64_t>>;

// Elements of a piece in one of the flat shards.
std::int64_t elements_in_shard(const ParameterPiece& piece, std::int64_t shard, std::int64_t shard_elements) {
  const std::int64_t begin = std::max(piece.flat_offset, shard * shard_elements);
  const std::int64_t end = std::min(piece.flat_offset + piece.elements(), (shard + 1) * shard_elements);
  return std::max<std::int64_t>(end - begin, 0);
}

// What torch.optim sees as tensors on the rank of this place: the shard of each parameter, the part of each
// that lies in the flat shard, or, without use_orig_params (flat vectors are not aligned then), the flat
// shard itself, as DeepSpeed's parts of several parameters are one tensor.
void append_tensors(const ModelGraph& graph, const Buffer& held, const ParameterLayout& layout, int place,
                    TensorSizes& tensors) {
  const bool flat = held.layout == BufferLayout::flat || held.layout == BufferLayout::flat_shard ||
                    held.layout == BufferLayout::element_shards;
  if (flat && held.alignment == 1 && !held.parameters.empty()) {
    tensors.emplace_back(held.parameters.front(), held.elements);
    return;
  }
  for (const ParameterPiece& piece : layout.pieces) {
    if (!graph.parameter(piece.parameter).trainable) continue;
    std::int64_t elements = piece.elements();
    if (held.layout == BufferLayout::row_shards) elements = piece.shard_elements();
    if (held.layout == BufferLayout::flat_shard)
      elements = elements_in_shard(piece, place % held.shards, held.elements);
    if (elements > 0) tensors.emplace_back(piece.parameter, elements);
  }
}

// Elements, on the rank that needs most: flat shards hold different parts of different parameters.
std::int64_t temporaries_of(StepBuilder& builder, const std::vector<TrainedUnit>& units,
                            const TrainSpec& train) {
  if (train.optimizer_implementation == OptimizerImplementation::fused) return 0;
  std::vector<ParameterLayout> layouts;
  int shards = 1;
  for (const TrainedUnit& unit : units) {
    const Buffer& held = builder.plan().buffer(unit.parameters);
    layouts.push_back(make_layout(builder.graph(), held));
    shards = std::max(shards, held.shards);
  }
  std::int64_t most = 0;
  for (int place = 0; place < shards; ++place) {
    TensorSizes tensors;
    for (std::size_t i = 0; i < units.size(); ++i)
      append_tensors(builder.graph(), builder.plan().buffer(units[i].parameters), layouts[i], place, tensors);
    std::sort(tensors.begin(), tensors.end());
    std::vector<std::int64_t> sizes;  // in the order of the model's parameters
    for (const auto& [parameter, elements] : tensors) sizes.push_back(elements);
    most = std::max(most, optimizer_temporaries(train, sizes));
  }
  return most;
}

// What torch.optim's implementation holds while it steps, made and dropped by the instruction.
void add_temporaries(StepBuilder& builder, const TrainedState& trained, const TrainSpec& train,
                     Instruction& step) {
  const std::vector<TrainedUnit>& units = trained.units;
  Buffer buffer;
  buffer.elements = temporaries_of(builder, units, train);
  if (buffer.elements == 0) return;
  buffer.name = "optimizer.temporaries";
  if (units.front().part > 0) buffer.name += fmt::format(".{}", units.front().part);
  if (train.optimizer_in_backward) buffer.name += "." + builder.partition().unit(units.front().unit).name;
  buffer.buffer_class = BufferClass::workspace;
  buffer.space = trained.space;
  buffer.stream = trained.stream;
  buffer.dtype = builder.plan().buffer(units.front().parameters).dtype;
  const BufferId temporaries = builder.declare(std::move(buffer));
  step.writes.push_back(temporaries);
  step.allocates.push_back(temporaries);
  step.frees.push_back(temporaries);
}

void emit_optimizer(StepBuilder& builder, const TrainedState& trained, const TrainSpec& train,
                    std::optional<BufferId> flag) {
  const std::vector<TrainedUnit>& units = trained.units;
  builder.set_pass(PlanPass::optimizer);
  Instruction step;
  step.kind = InstructionKind::OptimizerStep;
  step.stream = trained.stream;
  const OptimizerRule rule = optimizer_rule(train);
  for (const TrainedUnit& unit : units) {
    append_gradients(unit, step.reads);
    step.reads.push_back(unit.parameters);
    step.writes.push_back(unit.parameters);
    const bool has_states = !unit.states.empty();
    for (const BufferId state : has_states ? unit.states : declare_states(builder, trained, unit, rule)) {
      step.writes.push_back(state);
      (builder.is_first() ? step.allocates : step.reads).push_back(state);
    }
  }
  step.bytes = total_bytes(builder, step.writes);
  if (!units.empty()) add_temporaries(builder, trained, train, step);
  guard(step, flag);
  builder.emit(std::move(step));
}

}  // namespace

void emit_optimizer_in_backward(StepBuilder& builder, Strategy& strategy, const TrainSpec& train,
                                SegmentId segment) {
  TrainedState due = strategy.trained();
  const std::vector<TrainedUnit> units = std::exchange(due.units, {});
  for (const TrainedUnit& unit : units) {
    if (builder.partition().unit(unit.unit).segments.front() < segment) continue;
    due.units = {unit};
    emit_optimizer(builder, due, train, std::nullopt);
    strategy.finish_in_backward(unit);
  }
  builder.set_pass(builder.plan().strategy);
}

namespace {

// All at once; returns what the optimizer read.
std::vector<BufferId> emit_update(StepBuilder& builder, Strategy& strategy, const TrainSpec& train,
                                  const std::vector<BufferId>& norms, std::optional<BufferId> flag) {
  strategy.prepare_update();
  const TrainedState trained = strategy.trained();
  const std::vector<BufferId> gradients = all_gradients(trained.units);
  if (train.clip_norm) {
    emit_clipping(builder, trained, gradients, norms, flag);
  } else if (trained.holds_scale) {
    emit_late_unscaling(builder, trained, gradients, flag);
  }
  if (!norms.empty()) builder.free(norms);
  if (train.clip_value) emit_value_clipping(builder, trained, gradients, flag);
  if (!train.optimizer_in_backward) emit_optimizer(builder, trained, train, flag);
  builder.set_pass(builder.plan().strategy);
  return gradients;
}

// What the optimizer reads is dropped by the strategy.
void emit_updates_one_by_one(StepBuilder& builder, Strategy& strategy, const TrainSpec& train,
                             const std::vector<BufferId>& norms, std::optional<BufferId> flag) {
  for (std::size_t i = 0; i < strategy.trained().units.size(); ++i) {
    strategy.prepare_one(i);
    TrainedState one = strategy.trained();
    one.units = {one.units[i]};
    const std::vector<BufferId> gradients = all_gradients(one.units);
    if (train.clip_norm) {
      emit_clipping(builder, one, gradients, norms, flag);
    } else if (one.holds_scale) {
      emit_late_unscaling(builder, one, gradients, flag);
    }
    if (train.clip_value) emit_value_clipping(builder, one, gradients, flag);
    emit_optimizer(builder, one, train, flag);
    builder.set_pass(builder.plan().strategy);
    strategy.finish_one(i);
  }
  if (!norms.empty()) builder.free(norms);
}

std::vector<BufferId> emit_norms_of_step(StepBuilder& builder, const TrainedState& trained) {
  if (!trained.one_by_one) return {emit_norms(builder, trained, all_gradients(trained.units))};
  std::vector<BufferId> norms;
  for (const TrainedUnit& unit : trained.units)
    norms.push_back(emit_norms(builder, trained, all_gradients({unit}), unit.part, unit.squares));
  return norms;
}

}  // namespace

void emit_optimizer_tail(StepBuilder& builder, Strategy& strategy, const TrainSpec& train, bool scaled_loss) {
  const TrainedState trained = strategy.trained();
  std::optional<BufferId> flag;
  std::vector<BufferId> norms;
  if (scaled_loss && !trained.holds_scale) {
    flag = emit_unscaling(builder, strategy, trained, all_gradients(trained.units));
  } else if (trained.checks_overflow) {
    flag = emit_overflow_check(builder, trained, all_gradients(trained.units));
  }
  if (train.clip_norm || trained.measures_norm) norms = emit_norms_of_step(builder, trained);
  builder.set_pass(builder.plan().strategy);
  std::vector<BufferId> gradients;
  if (trained.one_by_one) {
    emit_updates_one_by_one(builder, strategy, train, norms, flag);
  } else {
    gradients = emit_update(builder, strategy, train, norms, flag);
  }
  strategy.after_update();
  builder.set_pass(PlanPass::optimizer);
  if (flag) builder.free({*flag});
  Instruction zero;
  zero.kind = InstructionKind::ZeroGradients;
  if (!trained.gradients_outlive_step) {
    std::copy_if(gradients.begin(), gradients.end(), std::back_inserter(zero.frees),
                 [&](BufferId id) { return builder.is_live(id); });
  }
  builder.emit(std::move(zero));
}

}  // namespace shardlab
