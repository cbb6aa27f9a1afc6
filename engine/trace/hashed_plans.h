// Whether traces and summaries name their plans by hash.
#pragma once

#include <cstdint>

namespace shardlab {

// A trace that is kept, or compared with another, needs the hashes. Who predicts only to read figures, as a
// search does thousands of times, leaves them out: writing plans as text is about a tenth of a prediction.
enum class HashedPlans : std::uint8_t { given, left_out };

}  // namespace shardlab
