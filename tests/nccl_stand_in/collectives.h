// What the stream's thread does for a collective or for the messages of a group.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/nccl_stand_in/communicator.h"

namespace stand_in {

enum class Kind : int { all_gather = 1, reduce_scatter, all_reduce, reduce, broadcast };

struct Collective {
  Kind kind = Kind::all_gather;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t count = 0;  // of elements, as the call has it
  int element = 0, reduction = 0, root = 0;
};

struct Message {
  int peer = 0;
  const std::byte* sent = nullptr;  // one of the two
  std::byte* received = nullptr;
  std::size_t bytes = 0;
};

// Return when the work is done or the communicator was given up.
void run(Communicator& communicator, const Collective& collective);
void run(Communicator& communicator, const std::vector<Message>& messages);

}  // namespace stand_in
