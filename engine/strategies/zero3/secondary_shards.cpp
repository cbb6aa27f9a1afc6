#include "engine/strategies/zero3/secondary_shards.h"

#include <utility>

#include "engine/strategies/host_state.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab {

SecondaryShards::SecondaryShards(StepBuilder& builder, const std::vector<BufferId>& whole, int ranks,
                                 int neighbours)
    : b_(builder),
      group_(builder.add_part_group(GroupDimension::shard, neighbours)),
      neighbours_(neighbours) {
  const bool until_first = builder.plan().phase == PlanPhase::setup || builder.is_first();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto parameter = make_id<ParameterId>(i);
    Buffer shard = shard_buffer(builder.plan().buffer(whole[i]), ranks);
    const bool is_there = until_first || !expires(parameter);
    shards_.push_back(is_there ? declare_persistent_buffer(builder, std::move(shard))
                               : builder.declare(std::move(shard)));
  }
}

// A whole parameter is padded for all ranks, and neighbours divide what is padded.
Buffer SecondaryShards::shard_buffer(const Buffer& whole, int ranks) const {
  Buffer shard = whole;
  shard.name.replace(0, std::string_view("full").size(), "secondary");
  shard.buffer_class = BufferClass::parameter_shard;
  shard.layout = BufferLayout::element_shards;
  shard.shards = neighbours_;
  shard.alignment = ranks;
  shard.elements = whole.elements / neighbours_;
  shard.stream = StepBuilder::compute();
  return shard;
}

void SecondaryShards::cut(ParameterId parameter, BufferId whole, StreamId readers) {
  const BufferId kept = shard(parameter);
  Instruction cut = make_copy(b_, *b_.plan().buffer(whole).unit, {whole}, {kept});
  cut.allocates = {kept};
  const InstructionId done = b_.emit(std::move(cut));
  emit_host_wait(b_, StepBuilder::compute(), done);
  if (readers != StepBuilder::compute()) b_.wait(readers, done);
}

void SecondaryShards::invalidate() {
  std::vector<BufferId> old;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (expires(make_id<ParameterId>(i)) && exists(make_id<ParameterId>(i))) old.push_back(shards_[i]);
  }
  if (!old.empty()) b_.free(std::move(old));
}

}  // namespace shardlab
