// Reads a Python pickle as data: numbers, texts, lists, tuples and dictionaries. Nothing is ever executed:
// what would import, call or build something (GLOBAL, REDUCE, BUILD ...) is refused by its name.
//
// Protocols 0 to 5. Memory is bounded, whatever lengths a file names: a file that has an instruction of the
// pickle's machine for fewer than two of its bytes, which no data have, is refused once these are many. There
// is no recursion, so nesting costs nothing; an object may contain itself.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

using PickleIndex = std::uint32_t;

enum class PickleKind : std::uint8_t { none, boolean, integer, number, text, bytes, list, tuple, dictionary };

// All objects of a pickle. What is asked of an object of another kind is absent.
class PickleTree {
 public:
  PickleIndex root() const { return root_; }
  PickleKind kind(PickleIndex value) const { return nodes_[value].kind; }

  std::optional<std::int64_t> integer(PickleIndex value) const;  // booleans count; addresses wrap around
  std::optional<std::string_view> text(PickleIndex value) const;
  // The items of a list or tuple, the keys and values of a dictionary in turn; empty for others.
  const std::vector<PickleIndex>& items(PickleIndex value) const;
  std::optional<PickleIndex> find(PickleIndex dictionary, std::string_view key) const;

 private:
  friend class PickleMachine;
  struct Node {
    PickleKind kind = PickleKind::none;
    std::uint32_t length = 0;  // of a text
    std::int64_t value = 0;    // a number, the place of a text, the index of a container
  };

  std::string source_;  // texts are parts of it
  std::vector<Node> nodes_;
  std::vector<std::vector<PickleIndex>> containers_;
  PickleIndex root_ = 0;
};

// bad_input: not a whole pickle, one that would do something, or one of more than so many instructions. Its
// place has no file: the caller knows it.
Result<PickleTree> read_pickle(std::string source,
                               std::size_t most_steps = std::numeric_limits<std::size_t>::max());

// Whether a longer pickle may begin so. What may not is refused by read_pickle() in the same words, without
// the rest.
bool may_begin_pickle(std::string beginning);

}  // namespace shardlab
