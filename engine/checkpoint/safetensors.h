// Reading and writing safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/checkpoint/safetensors_header.h"

namespace shardlab {

class CheckpointFile;  // checkpoint_file.h

// One checkpoint: a file, or all files of an index. Opening reads and checks the headers; data is read on
// demand, range by range. Const functions may be called by several threads at once.
class SafetensorsReader {
 public:
  // `path`: a .safetensors file, an .index.json, or a folder that holds model.safetensors or
  // model.safetensors.index.json. Errors are bad_input and name the file: unreadable, cut off, not a
  // safetensors file, inconsistent, a tensor twice, an index that names a file outside its folder or a tensor
  // that its file lacks.
  static Result<SafetensorsReader> open(const std::filesystem::path& path);

  // By name.
  const std::map<std::string, SafetensorsEntry, std::less<>>& tensors() const { return tensors_; }
  const std::filesystem::path& path() const { return path_; }

  // Elements [first, first + values.size()) of the tensor in row-major order, converted to float32. Fails for
  // integer tensors, ranges outside the tensor, and files that can no longer be read.
  Status read(std::string_view name, std::int64_t first, std::span<float> values) const;

 private:
  Status add_file(const std::filesystem::path& path);
  Status add_index(const std::filesystem::path& path);

  std::filesystem::path path_;
  std::map<std::string, SafetensorsEntry, std::less<>> tensors_;
  std::map<std::string, std::shared_ptr<const CheckpointFile>, std::less<>> files_;  // by tensor
};

struct TensorToWrite {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  std::span<const std::byte> data;
};

// Writes the file as a whole: it appears under its name only when it is complete. run_failed when the disk is
// full or not writable.
Status write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors);

}  // namespace shardlab
