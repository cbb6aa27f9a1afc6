// The JSON in front of a safetensors file. The length of the data is what the header itself would need.
#include <algorithm>

#include "engine/checkpoint/safetensors_header.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_header_of_safetensors(std::string_view bytes) {
  // The first two bytes are the length of the data, so that headers that fit can be found.
  if (bytes.size() < 2) return Answer::refused;
  const std::int64_t data = static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1]);
  const std::string_view json = bytes.substr(2);
  const auto begin = static_cast<std::int64_t>(8 + json.size());
  const auto entries = parse_safetensors_header(json, begin, begin + data, "header");
  if (!entries) return answer_of(entries);
  for (const SafetensorsEntry& entry : *entries) {
    promise(entry.offset >= begin && entry.bytes >= 0, "a tensor begins behind the header");
    promise(entry.bytes <= begin + data - entry.offset, "a tensor ends with the file");
  }
  return Answer::taken;
}

}  // namespace shardlab::fuzz
