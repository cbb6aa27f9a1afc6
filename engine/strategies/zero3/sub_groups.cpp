#include "engine/strategies/zero3/sub_groups.h"

#include <utility>

#include <fmt/format.h>

#include "engine/plan/layout.h"
#include "engine/strategies/gradient_order.h"

namespace shardlab {

SubGroups::SubGroups(const ModelGraph& graph, UnitId root, int ranks, std::int64_t size)
    : graph_(graph),
      root_(root),
      ranks_(ranks),
      groups_(1),
      group_of_(graph.parameters.size()),
      offsets_(graph.parameters.size()) {
  std::int64_t elements = 0;
  for (const ParameterId parameter : parameters_with_gradients(graph)) {
    if (elements >= size) {
      groups_.emplace_back();
      elements = 0;
    }
    groups_.back().push_back(parameter);
    group_of_[parameter.index()] = groups_.size() - 1;
    offsets_[parameter.index()] = elements;
    elements += (graph.parameter(parameter).elements() + ranks - 1) / ranks;
  }
}

Buffer SubGroups::part(std::size_t group, std::string name, BufferClass buffer_class, DType dtype) const {
  if (group > 0) name += fmt::format(".{}", group);
  return part_of(groups_[group], std::move(name), buffer_class, dtype);
}

Buffer SubGroups::part_of(std::vector<ParameterId> parameters, std::string name, BufferClass buffer_class,
                          DType dtype) const {
  Buffer part;
  part.name = std::move(name);
  part.buffer_class = buffer_class;
  part.dtype = dtype;
  part.layout = BufferLayout::element_shards;
  part.shards = ranks_;
  part.elements = make_layout(graph_, parameters, ranks_, 1, 1, ShardedBy::elements).shard_elements;
  part.parameters = std::move(parameters);
  part.unit = root_;
  return part;
}

}  // namespace shardlab
