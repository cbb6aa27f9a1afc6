// Elements as bytes, and the reduction of one chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stand_in {

// The size of an ncclDataType_t; 0 for one that is not known.
std::size_t element_bytes(int element);

// to = parts[0] op parts[1] op ..., in this order, in float32 (float64, integers as they are); an average is
// divided by `parts` in the end. `count` elements; `to` may be one of the parts.
void reduce(void* to, const std::vector<const std::byte*>& parts, std::size_t count, int element,
            int reduction);

}  // namespace stand_in
