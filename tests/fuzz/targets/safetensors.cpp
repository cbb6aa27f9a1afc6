// A whole safetensors file: opened, and some elements of every tensor read.
#include <algorithm>
#include <array>
#include <span>

#include "engine/base/dtype.h"
#include "engine/checkpoint/safetensors.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_safetensors_file(std::string_view bytes) {
  const auto reader = SafetensorsReader::open(scratch_file("input.safetensors", bytes));
  if (!reader) return answer_of(reader);
  for (const auto& [name, entry] : reader->tensors()) {
    std::array<float, 4> values{};
    const std::int64_t elements = entry.bytes / element_size(entry.dtype);
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(elements, 4));
    const Status first = reader->read(name, 0, std::span(values).first(count));
    if (!first) check_error(first.error());
    // Whoever reads there is wrong, and told so.
    promise(!reader->read(name, elements, values), "nothing can be read behind a tensor's end");
  }
  return Answer::taken;
}

}  // namespace shardlab::fuzz
