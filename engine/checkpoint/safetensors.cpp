#include "engine/checkpoint/safetensors.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/base/output_file.h"
#include "engine/checkpoint/checkpoint_file.h"
#include "engine/checkpoint/float_conversion.h"

namespace shardlab {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_largest_header = 100'000'000;  // the format's own limit

}  // namespace

Status SafetensorsReader::add_file(const fs::path& path) {
  SHARDLAB_TRY(const std::shared_ptr<const CheckpointFile> file, CheckpointFile::open(path));
  if (file->bytes() < 8) return bad_input(in_file(path.string()), "too short for a safetensors file");
  std::array<std::byte, 8> length_bytes;
  SHARDLAB_CHECK_OK(file->read(0, length_bytes));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(length_bytes[i]);
  if (length > static_cast<std::uint64_t>(file->bytes()) - 8) {
    return bad_input(
        in_file(path.string()),
        fmt::format("its header of {} bytes reaches beyond the end; cut off, or not a safetensors file",
                    length));
  }
  if (length > static_cast<std::uint64_t>(k_largest_header)) {
    return bad_input(in_file(path.string()),
                     fmt::format("a header of {} bytes; the format allows {}", length, k_largest_header));
  }
  std::string header(length, '\0');
  SHARDLAB_CHECK_OK(file->read(8, std::as_writable_bytes(std::span(header))));
  SHARDLAB_TRY(auto entries, parse_safetensors_header(header, 8 + static_cast<std::int64_t>(length),
                                                      file->bytes(), path.string()));
  for (SafetensorsEntry& entry : entries) {
    files_[entry.name] = file;
    if (tensors_.contains(entry.name))
      return bad_input(in_file(path.string()), fmt::format("tensor '{}' is in two files", entry.name));
    tensors_.emplace(entry.name, std::move(entry));
  }
  return {};
}

Status SafetensorsReader::add_index(const fs::path& path) {
  SHARDLAB_TRY(const std::string text, read_input_file(path, k_weights_index_file));
  if (is_json_too_large(text))
    return bad_input(in_file(path.string()), "is not an index: it has too many values");
  const auto index = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    return bad_input(in_file(path.string()), "is not an index: no weight_map");
  }
  std::set<std::string> names;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    if (!file.is_string())
      return bad_input(in_file(path.string()), fmt::format("no file name for tensor '{}'", tensor));
    const fs::path name = file.get<std::string>();
    if (name.has_parent_path() || name == ".." || name.empty()) {
      return bad_input(in_file(path.string()),
                       fmt::format("'{}' is not the name of a file beside it", name.string()));
    }
    names.insert(name.string());
  }
  for (const std::string& name : names) SHARDLAB_CHECK_OK(add_file(path.parent_path() / name));
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    if (!tensors_.contains(tensor)) {
      return bad_input(in_file(path.string()),
                       fmt::format("tensor '{}' is not in {}", tensor, file.get<std::string>()));
    }
  }
  return {};
}

Result<SafetensorsReader> SafetensorsReader::open(const fs::path& given) {
  SafetensorsReader reader;
  reader.path_ = given;
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) {
    reader.path_ = given / "model.safetensors.index.json";
    if (!fs::exists(reader.path_, ignored)) reader.path_ = given / "model.safetensors";
  }
  if (reader.path_.extension() == ".json") {
    SHARDLAB_CHECK_OK(reader.add_index(reader.path_));
  } else {
    SHARDLAB_CHECK_OK(reader.add_file(reader.path_));
  }
  return reader;
}

Status SafetensorsReader::read(std::string_view name, std::int64_t first, std::span<float> values) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return bad_input(in_file(path_.string()), fmt::format("no tensor '{}'", name));
  const SafetensorsEntry& entry = found->second;
  const auto count = static_cast<std::int64_t>(values.size());
  if (!is_floating_point(entry.dtype)) {
    return bad_input(in_file(path_.string()), fmt::format("tensor '{}' is {}, not a floating-point type",
                                                          name, to_string(entry.dtype)));
  }
  if (first < 0 || count > element_count(entry.shape) - first) {
    return internal_error(in_file(path_.string()), fmt::format("elements {} to {} are outside tensor '{}'",
                                                               first, first + count, name));
  }
  const std::int64_t width = element_size(entry.dtype);
  std::vector<std::byte> raw(static_cast<std::size_t>(count * width));
  SHARDLAB_CHECK_OK(files_.find(name)->second->read(entry.offset + first * width, raw));
  convert_to_float(entry.dtype, raw, values);
  return {};
}

namespace {

std::string length_bytes(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xffU);
  return bytes;
}

Status write_whole(const fs::path& path, const std::string& header, std::span<const TensorToWrite> tensors) {
  SHARDLAB_TRY(OutputFile file, OutputFile::create(path));
  SHARDLAB_CHECK_OK(file.write(length_bytes(header.size()) + header));
  for (const TensorToWrite& tensor : tensors)
    SHARDLAB_CHECK_OK(file.write({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()}));
  return file.finish();
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
  SHARDLAB_CHECK_OK(replaceable_file(path));
  Status written = write_whole(path, safetensors_header(entries), tensors);
  if (!written) written.error().kind = ErrorKind::run_failed;  // a training has ended for nothing
  return written;
}

}  // namespace shardlab
