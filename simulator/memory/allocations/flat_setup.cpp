#include "simulator/memory/allocations/flat_setup.h"

#include <algorithm>
#include <string_view>

#include "engine/plan/layout.h"

namespace shardlab {
namespace {

bool is_inside(std::string_view module, std::string_view of) {
  if (of.empty() || of == ".") return true;
  return module.size() > of.size() && module.starts_with(of) && module[of.size()] == '.';
}

// Those inside a module before the module's own.
std::vector<BufferId> inner_first(const StepPlan& setup, const std::vector<BufferId>& shards) {
  const auto module_of = [&](BufferId id) -> std::string_view {
    return setup.units[setup.buffer(id).unit->index()].module_path;
  };
  std::vector<BufferId> ordered, open;
  for (const BufferId shard : shards) {
    while (!open.empty() && !is_inside(module_of(shard), module_of(open.back()))) {
      ordered.push_back(open.back());
      open.pop_back();
    }
    open.push_back(shard);
  }
  ordered.insert(ordered.end(), open.rbegin(), open.rend());
  return ordered;
}

void make_unit(const PlannedScenario& planned, const Buffer& shard, BufferId id, AllocationList& list) {
  const ParameterLayout layout = make_layout(planned.graph, shard);
  std::vector<StorageIndex> whole;
  for (const ParameterPiece& piece : layout.pieces) {
    if (piece.elements() > 0)
      whole.push_back(list.take(bytes_of(piece.elements(), shard.dtype), shard.stream));
  }
  const StorageIndex joined = list.take(bytes_of(layout.flat_elements, shard.dtype), shard.stream);
  list.held(id).push_back(list.take(shard.bytes(), shard.stream));
  list.give(joined);
  for (const StorageIndex parameter : whole) list.give(parameter);
}

// What the unit's parameters are gathered into; null where they never are.
const Buffer* gathered_of(const StepPlan& step, UnitId unit) {
  const auto found = std::find_if(step.buffers.begin(), step.buffers.end(), [&](const Buffer& buffer) {
    return buffer.buffer_class == BufferClass::gathered_parameters && buffer.unit == unit;
  });
  return found == step.buffers.end() ? nullptr : &*found;
}

void try_gathering(const Buffer& shard, const Buffer& gathered, AllocationList& list) {
  const auto pass = [&](std::int64_t elements, DType dtype) {
    list.give(list.take(bytes_of(elements, dtype), shard.stream));
  };
  const bool mixed = gathered.dtype != shard.dtype;
  const std::int64_t whole = shard.elements * shard.shards;
  if (mixed) pass(shard.elements, gathered.dtype);
  pass(whole, gathered.dtype);
  if (mixed) pass(whole, shard.dtype);
}

}  // namespace

std::vector<BufferId> flat_shards(const StepPlan& setup) {
  std::vector<BufferId> shards;
  for (std::size_t i = 0; i < setup.buffers.size(); ++i) {
    const Buffer& buffer = setup.buffers[i];
    if (buffer.buffer_class == BufferClass::parameter_shard && buffer.layout == BufferLayout::flat_shard &&
        buffer.space == MemorySpace::device && buffer.unit && buffer.elements > 0)
      shards.push_back(make_id<BufferId>(i));
  }
  return shards;
}

void take_flat_shards(const PlannedScenario& planned, const StepPlan& setup,
                      const std::vector<BufferId>& shards, AllocationList& list) {
  for (const BufferId shard : inner_first(setup, shards))
    make_unit(planned, setup.buffer(shard), shard, list);
  for (const BufferId id : shards) {
    const Buffer& shard = setup.buffer(id);
    if (const Buffer* gathered = gathered_of(planned.plan.steady, *shard.unit))
      try_gathering(shard, *gathered, list);
  }
}

}  // namespace shardlab
