// What a stream of a plan is for.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

// Where somebody needs a stream for what it does: its word is the stream's name.
enum class StreamRole : std::uint8_t {
  other,
  unshard,  // of FSDP1: it gathers flat vectors, and PyTorch joins their gradients on it where the plan does
            // so on compute, which matters to the caching allocator alone
            // (simulator/memory/allocations/issue_streams.h)
};
template <>
inline constexpr auto k_words<StreamRole> = std::to_array<Word<StreamRole>>({{StreamRole::unshard,
                                                                              "unshard"}});

}  // namespace shardlab
