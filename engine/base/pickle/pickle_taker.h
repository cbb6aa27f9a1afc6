// Takes out of a pickle, while it is read, what the tree need not keep: one that would fill the memory is
// read in as much as its essence needs.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/pickle/pickle_tree.h"

namespace shardlab {

class PickleTaker {
 public:
  PickleTaker() = default;
  PickleTaker(const PickleTaker&) = delete;
  PickleTaker& operator=(const PickleTaker&) = delete;
  virtual ~PickleTaker() = default;

  // Asked once of every list and dictionary when it is whole: it was filled by one instruction of fewer items
  // than Python's pickler writes at once, or is put into another. A number, of less than 58 bits, by which
  // the taker knows it: the tree then has no items of it, and answers taken() with the number, however often
  // the pickle recalls it. Nothing: the tree keeps it. Not asked of what was recalled before it was whole, as
  // an object that contains itself. What is taken may not be changed any more: that is damage.
  virtual std::optional<std::int64_t> take(const PickleTree& tree, PickleValue container) = 0;
};

}  // namespace shardlab
