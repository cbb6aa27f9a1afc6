// What a drive needs of memory, and what it adds to the books.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/result.h"
#include "engine/base/units.h"

namespace shardlab {

// A flat tensor that begins at a page, which drives read and write directly; booked like any other. Throws
// c10::OutOfMemoryError.
at::Tensor at_page(std::int64_t elements, c10::ScalarType dtype);

// The memory of a tensor without gaps.
std::span<std::byte> bytes_of_tensor(const at::Tensor& tensor);

// Bytes on a drive, booked while it lives in the ledger, class and space that are current when it is made.
class BookedFile {
 public:
  explicit BookedFile(Bytes bytes);
  ~BookedFile();
  BookedFile(const BookedFile&) = delete;
  BookedFile& operator=(const BookedFile&) = delete;
};

// Throws std::runtime_error with the error's text: what runs a plan's instructions tells errors so, and which
// rank it is besides.
void or_throw(const Status& status);

}  // namespace shardlab
