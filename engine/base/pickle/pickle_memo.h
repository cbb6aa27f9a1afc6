// What a pickle has noted to recall it: by numbers that count up in what Python writes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/base/pickle/pickle_tree.h"

namespace shardlab {

class PickleMemo {
 public:
  std::uint64_t size() const { return in_order_.size() + others_.size(); }

  void set(std::uint64_t place, PickleValue value) {
    if (place < in_order_.size())
      in_order_[place] = value;
    else if (place == in_order_.size() && others_.empty())
      in_order_.push_back(value);
    else
      others_[place] = value;
  }

  const PickleValue* find(std::uint64_t place) const {
    if (place < in_order_.size()) return &in_order_[place];
    const auto found = others_.find(place);
    return found == others_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<PickleValue> in_order_;
  std::unordered_map<std::uint64_t, PickleValue> others_;  // by places with gaps in front of them
};

}  // namespace shardlab
