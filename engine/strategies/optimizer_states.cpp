#include "engine/strategies/optimizer_states.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "engine/plan/layout.h"

namespace shardlab {
namespace {

// A buffer that lies like the stored parameters of the unit, without the frozen ones.
Buffer like_trained(StepBuilder& builder, const TrainedUnit& unit) {
  Buffer buffer = builder.plan().buffer(unit.parameters);
  const ModelGraph& graph = builder.graph();
  std::vector<ParameterId> trained;
  std::copy_if(buffer.parameters.begin(), buffer.parameters.end(), std::back_inserter(trained),
               [&](ParameterId id) { return graph.parameter(id).trainable; });
  if (trained.size() == buffer.parameters.size()) return buffer;
  if (buffer.layout == BufferLayout::flat_shard) {  // cut where the frozen ones count, too
    buffer.layout = BufferLayout::trained_flat_shard;
    buffer.elements = elements_of(make_layout(graph, buffer), buffer.layout);
    return buffer;
  }
  buffer.elements = elements_of(
      make_layout(graph, trained, buffer.shards, buffer.alignment, buffer.end_alignment), buffer.layout);
  buffer.parameters = std::move(trained);
  return buffer;
}

// One float32 for each block of a state in eight bits.
Buffer scales_of(const Buffer& state, std::int64_t block) {
  Buffer scales;
  scales.name = state.name + ".scales";
  scales.buffer_class = state.buffer_class;
  scales.stream = state.stream;
  scales.space = state.space;
  scales.carried = state.carried;
  scales.unit = state.unit;
  scales.elements = (state.elements + block - 1) / block;
  return scales;
}

// Whether most of its elements are in tensors whose states bitsandbytes pages.
bool is_paged(const ModelGraph& graph, const Buffer& state) {
  std::int64_t large = 0, all = 0;
  for (const ParameterId id : state.parameters) {
    const std::int64_t elements = graph.parameter(id).elements();
    all += elements;
    if (elements >= k_least_paged_elements) large += elements;
  }
  return state.parameters.empty() ? state.elements >= k_least_paged_elements : 2 * large >= all;
}

}  // namespace

std::vector<BufferId> declare_states(StepBuilder& builder, const TrainedState& trained,
                                     const TrainedUnit& unit, const OptimizerRule& rule) {
  std::vector<BufferId> states;
  for (const BufferRole state : rule.states) {
    Buffer buffer = like_trained(builder, unit);
    buffer.role = state;
    buffer.name = fmt::format("{}.{}", to_string(state), builder.partition().unit(unit.unit).name);
    if (unit.part > 0) buffer.name += fmt::format(".{}", unit.part);
    buffer.buffer_class = BufferClass::optimizer_state;
    buffer.stream = trained.stream;
    buffer.space = trained.space;
    buffer.carried = !builder.is_first();
    buffer.dtype = rule.state_dtype.value_or(buffer.dtype);
    const MemorySpace scales_lie = buffer.space;
    if (rule.paged && buffer.space == MemorySpace::device && is_paged(builder.graph(), buffer))
      buffer.space = MemorySpace::managed;
    states.push_back(builder.declare(buffer));
    if (rule.state_block == 0) continue;
    buffer.space = scales_lie;
    states.push_back(builder.declare(scales_of(buffer, rule.state_block)));
  }
  return states;
}

}  // namespace shardlab
