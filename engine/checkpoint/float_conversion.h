// Stored floating-point numbers as float32. Private to this folder.
#pragma once

#include <cstddef>
#include <span>

#include "engine/base/dtype.h"

namespace shardlab {

// `raw` holds values.size() little-endian numbers of a floating-point dtype.
void convert_to_float(DType dtype, std::span<const std::byte> raw, std::span<float> values);

}  // namespace shardlab
