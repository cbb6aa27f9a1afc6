#include "engine/strategies/zero3/optimizer_swap.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/offload_spec.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab {

OptimizerSwap::OptimizerSwap(StepBuilder& builder, const SubGroups& groups, UnitId root,
                             const Scenario& scenario, const HostState& host)
    : b_(builder),
      groups_(groups),
      root_(root),
      rules_(*scenario.offload),
      host_(host),
      roles_(optimizer_rule(*scenario.train).states),
      in_(builder.add_stream("drive_read")),
      out_(builder.add_stream("drive_write")),
      pool_(builder, root, host, largest_buffer(groups, rules_), staging_buffers(*scenario.offload)),
      gradients_(builder, groups, root, rules_, pool_, host, out_) {
  for (std::size_t group = 0; group < groups.count(); ++group) files_.push_back(declare_files(group));
}

std::optional<OptimizerSwap::Files> OptimizerSwap::declare_files(std::size_t group) {
  if (!swaps(group)) return std::nullopt;
  const PlanPhase phase = b_.plan().phase;
  Files files{file(group, "drive.master", BufferClass::parameter_shard, phase != PlanPhase::setup), {}};
  if (phase == PlanPhase::setup) return files;
  for (const BufferRole role : roles_)
    files.states.push_back(
        file(group, fmt::format("drive.{}", to_string(role)), BufferClass::optimizer_state, !b_.is_first()));
  return files;
}

BufferId OptimizerSwap::file(std::size_t group, std::string name, BufferClass buffer_class, bool is_there) {
  Buffer file = groups_.part(group, std::move(name), buffer_class, DType::float32);
  file.space = MemorySpace::disk;
  file.stream = out_;
  return is_there ? b_.declare_carried(std::move(file)) : b_.declare(std::move(file));
}

// Named by its slot, too: the same name is the same memory in every plan of a run.
BufferId OptimizerSwap::staged_part(std::size_t group, std::string_view name, BufferClass buffer_class,
                                    std::size_t slot) {
  Buffer part = groups_.part(group, fmt::format("{}.slot{}", name, slot), buffer_class, DType::float32);
  part.role = buffer_class == BufferClass::optimizer_state ? role_of_name(name) : BufferRole::other;
  pool_.place(part, slot);
  return b_.declare(std::move(part));
}

void OptimizerSwap::write_masters(const std::vector<std::vector<BufferId>>& shards) {
  std::vector<Staged> batch;
  const auto finish = [&] {
    for (Staged& staged : batch) write(staged);
    for (Staged& staged : batch) finish_write(std::move(staged));
    batch.clear();
  };
  for (std::size_t group = 0; group < groups_.count(); ++group) {
    if (!files_[group]) continue;
    if (pool_.free_slots() == 0) finish();
    Staged staged;
    staged.group = group;
    staged.slots = pool_.take(1);
    staged.master = staged_part(group, "master", BufferClass::parameter_shard, staged.slots[0]);
    pool_.wait_for_slots(StepBuilder::compute());
    Instruction copy = make_copy(b_, root_, shards[group], {staged.master});
    copy.allocates = {staged.master};
    emit_host_wait(b_, host_.stream, b_.emit(std::move(copy)));
    b_.wait(out_, StepBuilder::compute());
    batch.push_back(std::move(staged));
  }
  finish();
}

std::optional<std::size_t> OptimizerSwap::next_after(std::size_t group) const {
  for (std::size_t next = group + 1; next < files_.size(); ++next)
    if (files_[next]) return next;
  return std::nullopt;
}

void OptimizerSwap::swap_in(std::size_t group) {
  gradients_.flush();
  now_ = ahead_ ? *std::exchange(ahead_, std::nullopt) : read(group);
  if (!rules_.overlaps()) return;  // which has waited
  emit_host_wait(b_, host_.stream, *now_->last);
  if (const auto next = next_after(group); next && rules_.reads_ahead) ahead_ = read(*next);
}

// The first update makes the states, in buffers that nothing was read into.
OptimizerSwap::Staged OptimizerSwap::read(std::size_t group) {
  Staged staged;
  staged.group = group;
  staged.slots = pool_.take(roles_.size() + 2);
  pool_.wait_for_slots(in_);
  b_.wait(in_, StepBuilder::compute());
  staged.master = staged_part(group, "master", BufferClass::parameter_shard, staged.slots[0]);
  emit_transfer(b_, root_, files_[group]->master, staged.master, in_);
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    staged.states.push_back(
        staged_part(group, to_string(roles_[i]), BufferClass::optimizer_state, staged.slots[i + 1]));
    if (!b_.is_first()) emit_transfer(b_, root_, files_[group]->states[i], staged.states.back(), in_);
  }
  if (!rules_.overlaps()) emit_host_wait(b_, host_.stream, *b_.last_on(in_));
  read_gradients(staged);
  return staged;
}

// Each where it lies among those of its sub-group. What never left the device is copied while the drive
// reads; DeepSpeed's swapper that overlaps nothing waits before that, as it does between states and
// gradients.
void OptimizerSwap::read_gradients(Staged& staged) {
  for (const PlacedGradient& each : gradients_.written(staged.group)) {
    staged.gradients.push_back(staged_gradient(staged, each));
    emit_transfer(b_, root_, each.buffer, staged.gradients.back(), in_);
  }
  staged.last = b_.last_on(in_);
  if (!rules_.overlaps() && !staged.gradients.empty()) emit_host_wait(b_, host_.stream, *staged.last);
  if (gradients_.kept(staged.group).empty()) return;
  pool_.wait_for_slots(StepBuilder::compute());
  InstructionId copied;
  for (const PlacedGradient& each : gradients_.kept(staged.group)) {
    staged.gradients.push_back(staged_gradient(staged, each));
    copied = emit_transfer(b_, root_, each.buffer, staged.gradients.back(), StepBuilder::compute());
  }
  emit_host_wait(b_, host_.stream, copied);
}

BufferId OptimizerSwap::staged_gradient(const Staged& staged, const PlacedGradient& gradient) {
  const std::size_t slot = staged.slots.back();
  Buffer part = groups_.part_of({gradient.parameter},
                                fmt::format("update_gradient.slot{}.p{}", slot, gradient.parameter.value),
                                BufferClass::gradient_shard, DType::float32);
  if (gradient.first > 0) part.name += ".end";
  part.first = gradient.first;
  part.elements = gradient.count;
  pool_.place(part, slot, groups_.offset_in_group(gradient.parameter) + gradient.first);
  return b_.declare(std::move(part));
}

void OptimizerSwap::swap_out(std::size_t group) {
  Staged staged = *std::exchange(now_, std::nullopt);
  if (!rules_.overlaps()) {
    write(staged, b_.is_first());
    finish_write(std::move(staged));
    return gradients_.drop(group);
  }
  if (behind_) finish_write(*std::exchange(behind_, std::nullopt));
  gradients_.drop(group);
  write(staged);
  if (rules_.writes_behind && next_after(group)) {
    behind_ = std::move(staged);
  } else {
    finish_write(std::move(staged));
  }
}

// In the first step without overlap DeepSpeed waits for the master before it writes the states that the
// update has made.
void OptimizerSwap::write(Staged& staged, bool waits_between) {
  const Files& files = *files_[staged.group];
  b_.wait(out_, host_.stream);
  const InstructionId master = emit_transfer(b_, root_, staged.master, files.master, out_);
  if (waits_between && !staged.states.empty()) emit_host_wait(b_, host_.stream, master);
  for (std::size_t i = 0; i < staged.states.size(); ++i)
    emit_transfer(b_, root_, staged.states[i], files.states[i], out_);
  staged.last = b_.last_on(out_);
}

void OptimizerSwap::finish_write(Staged staged) {
  emit_host_wait(b_, host_.stream, *staged.last);
  std::vector<BufferId> freed{staged.master};
  freed.insert(freed.end(), staged.states.begin(), staged.states.end());
  freed.insert(freed.end(), staged.gradients.begin(), staged.gradients.end());
  b_.free(std::move(freed));
  pool_.note_written(*staged.last);
  pool_.give_back(staged.slots);
}

TrainedUnit OptimizerSwap::unit(std::size_t group) const {
  TrainedUnit unit{root_, files_[group]->master, {}, static_cast<int>(group)};
  unit.squares = gradients_.squares(group);
  if (!now_ || now_->group != group) return unit;
  unit.parameters = now_->master;
  unit.gradients = now_->gradients;
  unit.states = now_->states;
  return unit;
}

}  // namespace shardlab
