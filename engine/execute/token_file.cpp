#include "engine/execute/token_file.h"
#include "engine/base/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr std::int64_t k_checked_at_once = 64 << 20;  // bytes

Result<std::shared_ptr<const unsigned char>> map_file(const std::string& path, std::int64_t& bytes) {
  SHARDLAB_TRY(const InputFile input, InputFile::open(path, "file of tokens"));
  bytes = input.size();
  void* memory = bytes > 0 ? ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_PRIVATE,
                                    input.descriptor(), 0)
                           : MAP_FAILED;
  const int reason = errno;
  if (bytes == 0) return bad_input(in_file(path), "is empty");
  if (memory == MAP_FAILED)
    return bad_input(in_file(path), fmt::format("cannot be mapped: {}", std::strerror(reason)));
  const auto length = static_cast<std::size_t>(bytes);
  return std::shared_ptr<const unsigned char>(
      static_cast<const unsigned char*>(memory),
      [length](const unsigned char* mapped) { ::munmap(const_cast<unsigned char*>(mapped), length); });
}

}  // namespace

Result<TokenFile> TokenFile::open(const std::filesystem::path& path, std::int64_t vocabulary) {
  TokenFile file;
  file.path_ = path.string();
  file.vocabulary_ = vocabulary;
  file.two_bytes_ = path.extension() == ".bin";
  std::int64_t bytes = 0;
  SHARDLAB_TRY(file.bytes_, map_file(file.path_, bytes));
  if (file.two_bytes_ && bytes % 2 != 0)
    return bad_input(in_file(file.path_), fmt::format("{} bytes are not whole uint16 tokens", bytes));
  file.size_ = file.two_bytes_ ? bytes / 2 : bytes;
  const std::int64_t checked = std::min(file.size_, k_checked_at_once / (file.two_bytes_ ? 2 : 1));
  const bool every_token_fits = vocabulary > (file.two_bytes_ ? 0xffff : 0xff);
  for (std::int64_t i = 0; !every_token_fits && i < checked; ++i) {
    if (file.token(i) >= vocabulary) return fail(file.outside_vocabulary(i));
  }
  return file;
}

std::int64_t TokenFile::token(std::int64_t index) const {
  if (!two_bytes_) return bytes_.get()[index];
  return bytes_.get()[2 * index] | bytes_.get()[2 * index + 1] << 8;
}

Error TokenFile::outside_vocabulary(std::int64_t index) const {
  return {ErrorKind::bad_input, path_,
          fmt::format("token {} at {} {} is not below the model's vocabulary of {}", token(index),
                      two_bytes_ ? "position" : "byte", index, vocabulary_),
          two_bytes_ ? "was the file made with another tokenizer?"
                     : "text trains on bytes: the vocabulary needs 256 entries"};
}

Status TokenFile::copy(std::int64_t first, std::span<std::int64_t> into) const {
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::int64_t index = first + static_cast<std::int64_t>(i);
    into[i] = token(index);
    if (into[i] >= vocabulary_) return fail(outside_vocabulary(index));
  }
  return {};
}

}  // namespace shardlab
