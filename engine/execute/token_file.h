// Tokens in a file: bytes of a text, or uint16 of a .bin file. The file is mapped, not read as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "engine/base/result.h"

namespace shardlab {

class TokenFile {
 public:
  // bad_input: not readable, empty, an odd-sized .bin, a token that is not below the vocabulary. All tokens
  // are looked at up to 64 MiB; of larger files the rest is checked as it is used.
  static Result<TokenFile> open(const std::filesystem::path& path, std::int64_t vocabulary);

  std::int64_t size() const { return size_; }  // in tokens

  // Tokens [first, first + into.size()).
  Status copy(std::int64_t first, std::span<std::int64_t> into) const;

 private:
  std::int64_t token(std::int64_t index) const;
  Error outside_vocabulary(std::int64_t index) const;

  std::string path_;
  std::shared_ptr<const unsigned char> bytes_;
  std::int64_t size_ = 0;
  std::int64_t vocabulary_ = 0;
  bool two_bytes_ = false;  // whether a token is a uint16, not a byte
};

}  // namespace shardlab
