// The bytes of a pickle in their order: a text, or a file in bounded pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/input_file.h"

namespace shardlab {

class PickleSource {
 public:
  PickleSource(std::string whole) : piece_(std::move(whole)), filled_(piece_.size()) {}  // NOLINT: as a text
  // Errors of InputFile::open(). One that is larger than its kind is an error once more than its first
  // mebibyte is asked for: what begins as no pickle is refused for that.
  static Result<PickleSource> open(const std::filesystem::path& file, const FileKind& kind);

  // Whether so many bytes come next; they then lie together at the begin of rest(). Not where the pickle ends
  // before, or cannot be read on.
  bool has(std::uint64_t bytes) { return bytes <= filled_ - at_ || fetch(bytes); }
  std::string_view rest() const { return std::string_view(piece_).substr(at_, filled_ - at_); }
  void pass(std::size_t bytes) { at_ += bytes; }
  std::uint64_t place() const { return before_ + at_; }  // of what comes next, from the begin

  // bad_input: why it cannot be read on, with the file as its place.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  PickleSource(InputFile file, Place place, const FileKind& kind)
      : file_(std::move(file)), where_(std::move(place)), kind_(kind) {}
  bool fetch(std::uint64_t bytes);
  bool read_on();

  std::optional<InputFile> file_;  // none: there is nothing beyond piece_
  Place where_;
  FileKind kind_ = {};
  std::string piece_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t before_ = 0;  // bytes in front of piece_
  std::optional<Error> failure_;
};

}  // namespace shardlab
