// The objects on which a pickle's instructions work: Python's stack with its marks, and the memo. What
// returns a bool says whether the instruction makes sense there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/pickle/pickle_memo.h"
#include "engine/base/pickle/pickle_taker.h"
#include "engine/base/pickle/pickle_tree.h"

namespace shardlab {

class PickleStack {
 public:
  explicit PickleStack(PickleTaker* taker) : taker_(taker) {}

  PickleTree& tree() { return tree_; }
  // The only object that is left, as the root of the tree; nothing where there is none, or another.
  std::optional<PickleTree> finish();

  bool push(PickleValue value) { return stack_.push_back(value), true; }
  bool push_container(PickleKind kind);
  bool mark() { return marks_.push_back(stack_.size()), true; }
  bool drop();
  bool drop_to_mark();
  bool duplicate();

  // A container of what lies above the mark, or of the uppermost `count`.
  bool build(PickleKind kind, std::optional<std::size_t> count = {});
  // Adds that to the list or dictionary below.
  bool extend(PickleKind kind, std::optional<std::size_t> count = {});

  bool memoize(std::optional<std::uint64_t> place);
  bool memoize_next() { return memoize(memo_.size()); }
  bool recall(std::optional<std::uint64_t> place);

 private:
  // How else than by its place on the stack a container can be named.
  struct Names {
    std::optional<std::uint64_t> memo;  // its place there
    bool stays = false;                 // in the tree: it has several names, or the taker left it
  };

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  // Where what lies above the mark begins, or the uppermost `count`; takes the mark away.
  std::optional<std::size_t> begin_of(std::optional<std::size_t> count);
  Names* names_of(PickleValue value);
  void named_again(PickleValue value);
  void offer(PickleValue& value);

  PickleTaker* taker_;
  PickleTree tree_;
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  PickleMemo memo_;
  std::vector<Names> names_;  // by the place of a container in the tree
};

}  // namespace shardlab
