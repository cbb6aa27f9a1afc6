// The index of a checkpoint of several files, beside one file that it may name.
#include <array>
#include <cstddef>

#include "engine/checkpoint/safetensors.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_safetensors_index(std::string_view bytes) {
  static const bool has_part = [] {
    const std::array<std::byte, 8> data{};
    const TensorToWrite tensor{"a", DType::float32, {2}, data};
    return write_safetensors(scratch_folder() / "part.safetensors", {&tensor, 1}).has_value();
  }();
  promise(has_part, "the file beside the index can be written");
  const auto reader = SafetensorsReader::open(scratch_file("model.safetensors.index.json", bytes));
  return answer_of(reader);
}

}  // namespace shardlab::fuzz
