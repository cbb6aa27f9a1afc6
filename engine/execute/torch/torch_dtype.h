// Element types of plans as libtorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include "engine/base/dtype.h"

namespace shardlab {

constexpr c10::ScalarType to_torch(DType dtype) {
  switch (dtype) {
    case DType::float32: return c10::ScalarType::Float;
    case DType::bfloat16: return c10::ScalarType::BFloat16;
    case DType::float16: return c10::ScalarType::Half;
    case DType::float64: return c10::ScalarType::Double;
    case DType::int64: return c10::ScalarType::Long;
    case DType::int32: return c10::ScalarType::Int;
    case DType::uint16: return c10::ScalarType::UInt16;
    case DType::uint8: return c10::ScalarType::Byte;
  }
  return c10::ScalarType::Undefined;
}

}  // namespace shardlab
