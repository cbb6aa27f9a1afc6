#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "engine/checkpoint/safetensors.h"

namespace shardlab {
namespace {

void write_length(std::ofstream& stream, std::uint64_t length) {
  for (int i = 0; i < 8; ++i) stream.put(static_cast<char>(length >> (8 * i) & 0xffU));
}

Status write_all(const std::filesystem::path& path, const std::string& header,
                 std::span<const TensorToWrite> tensors) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  write_length(stream, header.size());
  stream << header;
  for (const TensorToWrite& tensor : tensors) {
    stream.write(reinterpret_cast<const char*>(tensor.data.data()),
                 static_cast<std::streamsize>(tensor.data.size()));
  }
  stream.flush();
  if (!stream)
    return run_failed(in_file(path.string()), fmt::format("cannot be written: {}", std::strerror(errno)),
                      "is the disk full?");
  return {};
}

}  // namespace

Status write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors) {
  std::vector<SafetensorsEntry> entries;
  for (const TensorToWrite& tensor : tensors) {
    const auto bytes = static_cast<std::int64_t>(tensor.data.size());
    if (bytes != element_count(tensor.shape) * element_size(tensor.dtype)) {
      return internal_error(in_file(path.string()),
                            fmt::format("tensor '{}': {} bytes do not fit its shape", tensor.name, bytes));
    }
    entries.push_back({tensor.name, tensor.dtype, tensor.shape, 0, bytes});
  }
  std::filesystem::path temporary = path;
  temporary += ".part";
  std::error_code error;
  if (const Status written = write_all(temporary, safetensors_header(entries), tensors); !written) {
    std::filesystem::remove(temporary, error);
    return written;
  }
  std::filesystem::rename(temporary, path, error);
  if (error) return run_failed(in_file(path.string()), fmt::format("cannot be written: {}", error.message()));
  return {};
}

}  // namespace shardlab
