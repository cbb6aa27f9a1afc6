// Indices as types. An Id<Tag> is the position of a thing in the vector that owns it; ids of different things
// do not mix.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace shardlab {

template <typename Tag>
struct Id {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Id, Id) = default;
  constexpr std::size_t index() const { return value; }
};

template <typename IdType>
constexpr IdType make_id(std::size_t index) {
  return IdType{static_cast<std::uint32_t>(index)};
}

using ModuleId = Id<struct ModuleTag>;            // ModelGraph::modules
using ParameterId = Id<struct ParameterTag>;      // ModelGraph::parameters
using TensorId = Id<struct TensorTag>;            // ModelGraph::tensors
using OperatorId = Id<struct OperatorTag>;        // ModelGraph::operators
using UnitId = Id<struct UnitTag>;                // Partition::units
using SegmentId = Id<struct SegmentTag>;          // Partition::segments
using RegionId = Id<struct RegionTag>;            // Partition::regions
using BufferId = Id<struct BufferTag>;            // StepPlan::buffers
using InstructionId = Id<struct InstructionTag>;  // StepPlan::instructions
using StreamId = Id<struct StreamTag>;            // StepPlan::streams
using GroupId = Id<struct GroupTag>;              // StepPlan::groups

}  // namespace shardlab
