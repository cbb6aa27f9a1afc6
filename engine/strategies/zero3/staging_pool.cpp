#include "engine/strategies/zero3/staging_pool.h"

#include <numeric>
#include <utility>

#include "engine/strategies/parameter_buffers.h"

namespace shardlab {

StagingPool::StagingPool(StepBuilder& builder, UnitId root, const HostState& host, std::int64_t slot_elements,
                         std::size_t count)
    : b_(builder), slot_elements_(slot_elements), host_(host), free_(count) {
  Buffer pool;
  pool.role = BufferRole::staging;
  pool.name = to_string(BufferRole::staging);
  pool.buffer_class = BufferClass::workspace;
  pool.elements = slot_elements * static_cast<std::int64_t>(count);
  pool.space = MemorySpace::pinned_host;
  pool.stream = host.stream;
  pool.unit = root;
  pool_ = declare_persistent_buffer(builder, std::move(pool));
  std::iota(free_.begin(), free_.end(), std::size_t{0});
}

std::vector<std::size_t> StagingPool::take(std::size_t count) {
  const auto first = free_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<std::size_t> taken(first, free_.end());
  free_.erase(first, free_.end());
  return taken;
}

void StagingPool::give_back(const std::vector<std::size_t>& slots) {
  free_.insert(free_.end(), slots.begin(), slots.end());
}

void StagingPool::wait_for_slots(StreamId stream) {
  if (written_) b_.wait(stream, *written_);
}

void StagingPool::place(Buffer& buffer, std::size_t slot, std::int64_t first) const {
  buffer.space = MemorySpace::pinned_host;
  buffer.stream = host_.stream;
  buffer.within = {pool_, static_cast<std::int64_t>(slot) * slot_elements_ + first};
}

}  // namespace shardlab
