#include "engine/strategies/zero3/leaving_gradients.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/strategies/parameter_buffers.h"

namespace shardlab {
namespace {

std::string name_of(std::string_view what, ParameterId parameter) {
  return fmt::format("{}.p{}", what, parameter.value);
}

}  // namespace

LeavingGradients::LeavingGradients(StepBuilder& builder, const SubGroups& groups, UnitId root,
                                   const SwapRules& rules, StagingPool& pool, const HostState& host,
                                   StreamId out)
    : b_(builder),
      groups_(groups),
      root_(root),
      rules_(rules),
      pool_(pool),
      host_(host),
      out_(out),
      squares_(groups.count()),
      written_(groups.count()),
      kept_(groups.count()) {}

void LeavingGradients::leave(std::vector<PlacedGradient> gradients, StreamId stream) {
  std::vector<std::size_t> order;  // of sub-groups, by their first gradient
  for (const PlacedGradient& each : gradients) {
    const std::size_t group = groups_.group_of(each.parameter);
    if (std::find(order.begin(), order.end(), group) == order.end()) order.push_back(group);
  }
  for (const std::size_t group : order) {
    for (const PlacedGradient& each : gradients)
      if (groups_.group_of(each.parameter) == group) leave_one(each, stream);
  }
}

void LeavingGradients::leave_one(const PlacedGradient& gradient, StreamId stream) {
  const ParameterId parameter = gradient.parameter;
  const std::size_t group = groups_.group_of(parameter);
  Buffer staged = groups_.part_of({parameter}, name_of("leaving", parameter), BufferClass::gradient_shard,
                                  DType::float32);
  const std::int64_t whole = staged.elements;
  staged.elements = rules_.aligned_part(whole);
  if (!rules_.is_swapped(whole) || !rules_.is_swapped(staged.elements)) {
    kept_[group].push_back({parameter, gradient.buffer, 0, whole});
    return;
  }
  const std::int64_t leaves = staged.elements;
  make_room(leaves);
  pool_.place(staged, *current_, filled_);
  filled_ += leaves;
  const BufferId copied = b_.declare(std::move(staged));
  pool_.wait_for_slots(stream);
  const InstructionId done = emit_transfer(b_, root_, gradient.buffer, copied, stream);
  emit_host_wait(b_, host_.stream, done);
  waiting_.push_back({copied, file_of(parameter, leaves), done});
  written_[group].push_back({parameter, waiting_.back().file, 0, leaves});
  if (leaves < whole) {
    kept_[group].push_back({parameter, gradient.buffer, leaves, whole - leaves});
  } else {
    b_.free({gradient.buffer});
  }
}

// DeepSpeed squares a gradient on the device, before it leaves, in float32. In float64 the sum of all rounds
// to what it is where gradients stay in memory.
void LeavingGradients::measure(ParameterId parameter, BufferId gradient, StreamId stream) {
  Buffer square;
  square.role = BufferRole::norms;
  square.name = name_of(to_string(BufferRole::norms), parameter);
  square.buffer_class = BufferClass::scalar;
  square.dtype = DType::float64;
  square.elements = 1;
  square.stream = stream;
  const BufferId taken = b_.declare(std::move(square));
  Instruction measure;
  measure.kind = InstructionKind::GradientNorms;
  measure.stream = stream;
  measure.unit = root_;
  measure.bytes = b_.plan().buffer(gradient).bytes();
  measure.reads = {gradient};
  measure.writes = measure.allocates = {taken};
  b_.emit(std::move(measure));
  squares_[groups_.group_of(parameter)].push_back(taken);
}

// Made by the first step, and there from then on.
BufferId LeavingGradients::file_of(ParameterId parameter, std::int64_t elements) {
  Buffer file = groups_.part_of({parameter}, name_of("drive.gradient", parameter),
                                BufferClass::gradient_shard, DType::float32);
  file.elements = elements;
  file.space = MemorySpace::disk;
  file.stream = out_;
  return b_.is_first() ? b_.declare(std::move(file)) : b_.declare_carried(std::move(file));
}

void LeavingGradients::make_room(std::int64_t elements) {
  if (!std::exchange(has_buffers_, true)) free_ = pool_.take(pool_.free_slots());
  if (current_ && filled_ + elements <= pool_.slot_elements()) return;
  if (current_) {
    write_waiting();
    if (free_.empty()) await_writes();
  }
  current_ = free_.back();
  free_.pop_back();
  filled_ = 0;
}

void LeavingGradients::write_waiting() {
  for (const Waiting& each : waiting_) {
    b_.wait(out_, each.copied);
    emit_transfer(b_, root_, each.staged, each.file, out_);
    staged_.push_back(each.staged);
  }
  waiting_.clear();
  if (current_) busy_.push_back(*std::exchange(current_, std::nullopt));
}

// All of them, and the slots are free again.
void LeavingGradients::await_writes() {
  const InstructionId last = *b_.last_on(out_);
  emit_host_wait(b_, host_.stream, last);
  b_.free(std::exchange(staged_, {}));
  pool_.note_written(last);
  free_.insert(free_.end(), busy_.begin(), busy_.end());
  busy_.clear();
}

void LeavingGradients::flush() {
  if (!std::exchange(has_buffers_, false)) return;
  write_waiting();
  await_writes();
  pool_.give_back(std::exchange(free_, {}));
}

void LeavingGradients::drop(std::size_t group) {
  for (const PlacedGradient& each : std::exchange(kept_[group], {})) b_.free({each.buffer});
}

}  // namespace shardlab
