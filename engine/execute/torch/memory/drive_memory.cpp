#include "engine/execute/torch/memory/drive_memory.h"

#include <cstdlib>
#include <stdexcept>

#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>

#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {
namespace {

constexpr std::size_t k_page = 4096;

std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

at::Tensor at_page(std::int64_t elements, c10::ScalarType dtype) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * c10::elementSize(dtype);
  void* const memory = std::aligned_alloc(k_page, (bytes + k_page - 1) / k_page * k_page);
  if (memory == nullptr && bytes > 0) throw c10::OutOfMemoryError({}, "no memory for the pool of a drive");
  book_block(address_of(memory), {static_cast<std::int64_t>(bytes)});
  const auto release = [](void* pointer) {
    unbook_block(address_of(pointer));
    std::free(pointer);
  };
  return at::from_blob(memory, {elements}, release, at::TensorOptions(dtype));
}

std::span<std::byte> bytes_of_tensor(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes()};
}

// Its own address stands for the file.
BookedFile::BookedFile(Bytes bytes) {
  book_block(address_of(this), bytes);
}
BookedFile::~BookedFile() {
  unbook_block(address_of(this));
}

void or_throw(const Status& status) {
  if (status) return;
  Error error = status.error();
  error.place.rank.reset();
  throw std::runtime_error(to_string(error));
}

}  // namespace shardlab
