// Files that somebody names to be written: there is the old content or the whole new one, and nothing else.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// The file that a finished one may be renamed to: the path itself, or what the link there points to.
// bad_input where something stands that is no ordinary file, a folder, a pipe or a device, which would be
// replaced.
Result<std::filesystem::path> replaceable_file(const std::filesystem::path& path);

enum class FileMode { plain, executable, private_to_user };

// A file that is being written. Its bytes go to a file of another name beside it, which takes its place in
// finish(); without finish() nothing is left of it. What stands there until then keeps its content and hands
// on its permissions. A pipe or a terminal (/dev/stdout) is written to directly; a pipe that nobody reads is
// an error at once. Movable; one thread at a time.
class OutputFile {
 public:
  // bad_input where the path leads to no place for a file, not_possible where the machine has none left.
  static Result<OutputFile> create(const std::filesystem::path& path, FileMode mode = FileMode::plain);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  // All bytes, or not_possible: the disk is full or fails.
  Status write(std::string_view bytes);
  // Not before the bytes are on the disk, so that a machine that goes down leaves one of the two as well.
  Status finish();

 private:
  OutputFile(std::filesystem::path named, std::filesystem::path real, std::filesystem::path beside,
             int descriptor);
  void give_up() noexcept;

  std::filesystem::path named_;   // as messages call it
  std::filesystem::path real_;    // where it will stand
  std::filesystem::path beside_;  // where it is written; empty for a pipe
  int descriptor_ = -1;
};

// A whole file at once. Errors as above.
Status write_output_file(const std::filesystem::path& path, std::string_view text,
                         FileMode mode = FileMode::plain);

}  // namespace shardlab
