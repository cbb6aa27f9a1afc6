// A file of a checkpoint, read by ranges. Private to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "engine/base/result.h"

namespace shardlab {

// Open as long as it lives. Several threads may read at once. Both functions fail with bad_input, named by
// the file: it cannot be opened or read, or is shorter than what is asked for.
class CheckpointFile {
 public:
  static Result<std::shared_ptr<const CheckpointFile>> open(const std::filesystem::path& path);
  CheckpointFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  ~CheckpointFile();
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;

  std::int64_t bytes() const { return bytes_; }
  Status read(std::int64_t offset, std::span<std::byte> into) const;

 private:
  int descriptor_;
  std::filesystem::path path_;
  std::int64_t bytes_ = 0;
};

}  // namespace shardlab
