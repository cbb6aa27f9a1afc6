#include "engine/strategies/zero3/grouped_update.h"

#include <utility>

#include "engine/strategies/parameter_buffers.h"

namespace shardlab {

GroupedUpdate::GroupedUpdate(StepBuilder& builder, const SubGroups& groups, UnitId root,
                             std::optional<HostState> host, OptimizerSwap* swap)
    : b_(builder), groups_(groups), root_(root), host_(host), swap_(swap) {
  const bool setup = builder.plan().phase == PlanPhase::setup;
  for (std::size_t group = 0; group < groups.count(); ++group) {
    if (swaps(group)) {
      masters_.emplace_back();
      continue;
    }
    Buffer master = groups.part(group, "master", BufferClass::parameter_shard, DType::float32);
    if (host_) rest_pageable(master);
    masters_.push_back(setup ? builder.declare(std::move(master))
                             : builder.declare_carried(std::move(master)));
  }
}

std::vector<BufferId> GroupedUpdate::shards_of(std::size_t group, const Gathers& gathers) const {
  std::vector<BufferId> shards;
  for (const ParameterId parameter : groups_.parameters(group)) shards.push_back(gathers.shard(parameter));
  return shards;
}

void GroupedUpdate::cut_masters(const Gathers& gathers) {
  std::vector<std::vector<BufferId>> swapped(groups_.count());
  for (std::size_t group = 0; group < groups_.count(); ++group) {
    std::vector<BufferId> shards = shards_of(group, gathers);
    if (swaps(group)) {
      swapped[group] = std::move(shards);
      continue;
    }
    Instruction copy = make_copy(b_, root_, std::move(shards), {*masters_[group]});
    copy.allocates = {*masters_[group]};
    b_.emit(std::move(copy));
  }
  if (swap_ != nullptr) swap_->write_masters(swapped);
}

TrainedUnit GroupedUpdate::unit(std::size_t group, BufferId reduced) const {
  if (swaps(group)) return swap_->unit(group);
  return {root_, *masters_[group], {gradient_.value_or(reduced)}, static_cast<int>(group)};
}

// Several gradients are joined in their dtype before they are copied to float32.
void GroupedUpdate::prepare(std::size_t group, BufferId reduced) {
  if (swaps(group)) return swap_->swap_in(group);
  if (host_) return;
  const DType dtype = b_.plan().buffer(reduced).dtype;
  if (dtype == DType::float32) {
    gradient_ = copy(reduced, group, "update_gradient", DType::float32);
    return;
  }
  const BufferId joined = copy(reduced, group, "joined_gradient", dtype);
  gradient_ = copy(joined, group, "update_gradient", DType::float32);
  b_.free({joined});
}

BufferId GroupedUpdate::copy(BufferId from, std::size_t group, std::string name, DType dtype) {
  const BufferId to = b_.declare(groups_.part(group, std::move(name), BufferClass::gradient_shard, dtype));
  Instruction copy = make_copy(b_, root_, {from}, {to});
  copy.allocates = {to};
  b_.emit(std::move(copy));
  return to;
}

// DeepSpeed clones the master, and a clone is not page-locked.
void GroupedUpdate::rest_pageable(Buffer& buffer) const {
  buffer.space = MemorySpace::pageable_host;
  buffer.stream = host_->stream;
}

// Tensor.copy_() from float32 in host memory to another dtype on the device converts on the host, into memory
// of its own.
BufferId GroupedUpdate::rounded(std::size_t group, const Buffer& shard) {
  if (!host_ || shard.space != MemorySpace::device || shard.dtype == DType::float32) return master(group);
  Buffer rounded = groups_.part(group, "rounded", BufferClass::parameter_shard, shard.dtype);
  rest_pageable(rounded);
  const BufferId made = b_.declare(std::move(rounded));
  Instruction round = make_copy(b_, root_, {master(group)}, {made});
  round.stream = host_->stream;
  round.allocates = {made};
  b_.emit(std::move(round));
  return made;
}

void GroupedUpdate::finish(std::size_t group, const Gathers& gathers) {
  if (gradient_) b_.free({*std::exchange(gradient_, std::nullopt)});
  const std::vector<BufferId> shards = shards_of(group, gathers);
  const Buffer shard = b_.plan().buffer(shards.front());
  const BufferId source = rounded(group, shard);
  Instruction back = make_copy(b_, root_, {source}, shards);
  if (shard.space != MemorySpace::device) back.stream = host_->stream;
  const InstructionId copied = b_.emit(std::move(back));
  if (host_ && shard.space == MemorySpace::device) emit_host_wait(b_, host_->stream, copied);
  if (source != master(group)) b_.free({source});
  if (swaps(group)) swap_->swap_out(group);
}

}  // namespace shardlab
