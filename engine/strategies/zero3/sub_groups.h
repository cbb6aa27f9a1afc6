// The sub-groups of ZeRO-3: parameters whose elements are updated together, one group after the other, so
// that no more than one of them needs float32 gradients at a time.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py (_create_fp16_sub_groups): trained parameters in the order
// of definition, until a rank's parts of them are sub_group_size elements or more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/strategies/step_builder.h"

namespace shardlab {

class SubGroups {
 public:
  // `size`: elements of one rank. There is at least one group.
  SubGroups(const ModelGraph& graph, UnitId root, int ranks, std::int64_t size);

  std::size_t count() const { return groups_.size(); }
  std::size_t group_of(ParameterId parameter) const { return group_of_[parameter.index()]; }
  const std::vector<ParameterId>& parameters(std::size_t group) const { return groups_[group]; }
  // The element of a rank's part of its group with which the parameter's begin.
  std::int64_t offset_in_group(ParameterId parameter) const { return offsets_[parameter.index()]; }

  // A buffer of this rank's elements of the group; "<name>", of further groups "<name>.<group>".
  Buffer part(std::size_t group, std::string name, BufferClass buffer_class, DType dtype) const;
  // The same of other parameters.
  Buffer part_of(std::vector<ParameterId> parameters, std::string name, BufferClass buffer_class,
                 DType dtype) const;

 private:
  const ModelGraph& graph_;
  const UnitId root_;
  const int ranks_;
  std::vector<std::vector<ParameterId>> groups_;
  std::vector<std::size_t> group_of_;  // by ParameterId; of frozen ones nothing
  std::vector<std::int64_t> offsets_;  // likewise
};

}  // namespace shardlab
