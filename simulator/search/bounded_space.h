// The combinations of a space with their bounds from below, and the order in which they are looked at.
//
// Combinations that differ only in knobs without an effect on the bounds share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/search/candidate.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/search_space.h"

namespace shardlab {

class BoundedSpace {
 public:
  // Reckons all bounds, with so many threads. `also`: a key by which an order goes.
  BoundedSpace(const SearchSpace& space, Evaluator& evaluator, const std::string& also, int threads);

  // All combinations, the least bound of time first.
  const std::vector<std::uint64_t>& order() const { return order_; }
  const LowerBounds& bounds_of(std::uint64_t index) const { return bounds_[group_of_[index]]; }
  std::uint32_t group_of(std::uint64_t index) const { return group_of_[index]; }
  std::size_t groups() const { return bounds_.size(); }

 private:
  const SearchSpace& space_;
  std::vector<LowerBounds> bounds_;      // by group
  std::vector<std::uint32_t> group_of_;  // by index
  std::vector<std::uint64_t> order_;
};

}  // namespace shardlab
