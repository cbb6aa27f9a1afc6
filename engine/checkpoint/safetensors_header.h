// The header of a safetensors file: which tensor lies where.
//
// Format: github.com/huggingface/safetensors, README: 8 bytes little-endian length, that many bytes of JSON,
// then the data, which the entries' ranges cover without holes or overlaps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/result.h"
#include "engine/model/shape.h"

namespace shardlab {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  std::int64_t offset = 0;  // of the first byte in the file
  std::int64_t bytes = 0;
};

// `data_begin` is the offset of the data in the file, `file_bytes` its length. Errors are bad_input with
// `where` as given.
Result<std::vector<SafetensorsEntry>> parse_safetensors_header(std::string_view json, std::int64_t data_begin,
                                                               std::int64_t file_bytes,
                                                               const std::string& where);

// The JSON for tensors written one after the other, padded with spaces to a multiple of 8.
std::string safetensors_header(const std::vector<SafetensorsEntry>& entries);

}  // namespace shardlab
