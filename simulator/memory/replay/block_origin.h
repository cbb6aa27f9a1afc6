// Who asked for a block, by the stack that torch noted with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/pickle/pickle_tree.h"

namespace shardlab {

// One frame, of Python or of C++.
struct StackFrame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};

// What a frame tells a reader of memory. `machinery` is Python's and what only calls on; `torch` is a frame
// of torch itself, or a node of its autograd; `program` is everything else.
enum class FrameKind : std::uint8_t { machinery, torch, program };

struct FrameOrigin {
  FrameKind kind = FrameKind::machinery;
  std::string words;  // `models/llama.py:240 (forward)`, `MmBackward0 (autograd)`
};

FrameOrigin origin_of(const StackFrame& frame);

// The origins of the blocks of a snapshot, each once: the innermost frame outside of torch or, in backward
// for example, where there is none, the innermost of torch.
class BlockOrigins {
 public:
  // The place in names() of what an event or a block says in its `frames`.
  std::uint32_t find(const PickleTree& tree, PickleValue noted);
  // Likewise for the frames themselves; absent for a list that is no stack.
  std::optional<std::uint32_t> of_stack(const PickleTree& tree, PickleValue list);

  // The first is empty: nothing was noted.
  std::vector<std::string> take_names() { return std::move(names_); }

 private:
  std::uint32_t innermost(const PickleTree& tree, std::span<const PickleValue> frames);
  const FrameOrigin& frame_origin(const PickleTree& tree, PickleValue frame);

  std::unordered_map<std::uint64_t, FrameOrigin> frames_;  // by the bits of the frame's value
  std::unordered_map<std::string, std::uint32_t> numbers_ = {{"", 0}};
  std::vector<std::string> names_ = {""};
};

}  // namespace shardlab
