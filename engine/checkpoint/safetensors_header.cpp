#include "engine/checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, DType>, 8> k_dtypes = {{{"F32", DType::float32},
                                                                         {"BF16", DType::bfloat16},
                                                                         {"F16", DType::float16},
                                                                         {"F64", DType::float64},
                                                                         {"I64", DType::int64},
                                                                         {"I32", DType::int32},
                                                                         {"U16", DType::uint16},
                                                                         {"U8", DType::uint8}}};

std::optional<DType> find_dtype(std::string_view name) {
  for (const auto& [text, dtype] : k_dtypes) {
    if (text == name) return dtype;
  }
  return std::nullopt;
}

// Finds the first name that an object at the top has twice: JSON keeps the last of two equal keys. A parser's
// own callback would find it too, in time that grows with the square of the number of tensors.
class TwiceNamed final : public nlohmann::json_sax<Json> {
 public:
  const std::string& name() const { return name_; }

  bool key(string_t& name) override {
    if (depth_ == 1 && !names_.insert(name).second) name_ = name;
    return name_.empty();
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  int depth_ = 0;
  std::unordered_set<std::string> names_;
  std::string name_;
};

// A file with two tensors of one name is refused.
Result<Json> parse_unique(std::string_view text, const std::string& where) {
  TwiceNamed twice;
  Json::sax_parse(text.begin(), text.end(), &twice);
  if (!twice.name().empty())
    return bad_input(in_file(where), fmt::format("two tensors are called '{}'", twice.name()));
  Json header = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return bad_input(in_file(where), "the header is not a JSON object", "is this a safetensors file?");
  return header;
}

// Product of the extents in bytes; nothing when it overflows or an extent is negative.
std::optional<std::int64_t> bytes_of_shape(const Json& shape, DType dtype, Shape& out) {
  std::int64_t bytes = element_size(dtype);
  for (const Json& extent : shape) {
    if (!extent.is_number_unsigned()) return std::nullopt;
    const auto value = extent.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    out.push_back(static_cast<std::int64_t>(value));
    if (__builtin_mul_overflow(bytes, out.back(), &bytes)) return std::nullopt;
  }
  return bytes;
}

Result<SafetensorsEntry> parse_entry(const std::string& name, const Json& value, std::int64_t data_begin,
                                     std::int64_t data_bytes, const std::string& where) {
  const auto broken = [&](std::string what) {
    return bad_input(in_file(where), fmt::format("tensor '{}': {}", name, what));
  };
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
      !value.contains("shape") || !value["shape"].is_array() || !value.contains("data_offsets") ||
      !value["data_offsets"].is_array() || value["data_offsets"].size() != 2 ||
      !value["data_offsets"][0].is_number_unsigned() || !value["data_offsets"][1].is_number_unsigned()) {
    return broken("needs dtype, shape and two data_offsets");
  }
  SafetensorsEntry entry;
  entry.name = name;
  const auto dtype = find_dtype(value["dtype"].get<std::string>());
  if (!dtype) return broken(fmt::format("unknown dtype '{}'", value["dtype"].get<std::string>()));
  entry.dtype = *dtype;
  const auto bytes = bytes_of_shape(value["shape"], *dtype, entry.shape);
  if (!bytes) return broken("impossible shape");
  const auto begin = value["data_offsets"][0].get<std::uint64_t>();
  const auto end = value["data_offsets"][1].get<std::uint64_t>();
  if (begin > end || end > static_cast<std::uint64_t>(data_bytes)) {
    return broken(fmt::format(
        "its data [{}, {}) lies outside the file's {} bytes of data; the file is damaged or cut off", begin,
        end, data_bytes));
  }
  if (static_cast<std::uint64_t>(*bytes) != end - begin) {
    return broken(fmt::format("its shape needs {} bytes, its data_offsets hold {}", *bytes, end - begin));
  }
  entry.offset = data_begin + static_cast<std::int64_t>(begin);
  entry.bytes = *bytes;
  return entry;
}

Status check_cover(std::vector<SafetensorsEntry> entries, std::int64_t data_begin, std::int64_t file_bytes,
                   const std::string& where) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  std::int64_t end = data_begin;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offset < end)
      return bad_input(in_file(where), fmt::format("tensor '{}' overlaps the one before it", entry.name));
    if (entry.offset > end)
      return bad_input(in_file(where), fmt::format("{} bytes before tensor '{}' belong to no tensor",
                                                   entry.offset - end, entry.name));
    end = entry.offset + entry.bytes;
  }
  if (end != file_bytes)
    return bad_input(in_file(where),
                     fmt::format("{} bytes at the end belong to no tensor", file_bytes - end));
  return {};
}

}  // namespace

Result<std::vector<SafetensorsEntry>> parse_safetensors_header(std::string_view json, std::int64_t data_begin,
                                                               std::int64_t file_bytes,
                                                               const std::string& where) {
  SHARDLAB_TRY(const Json header, parse_unique(json, where));
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    SHARDLAB_TRY(SafetensorsEntry entry,
                 parse_entry(name, value, data_begin, file_bytes - data_begin, where));
    entries.push_back(std::move(entry));
  }
  SHARDLAB_CHECK_OK(check_cover(entries, data_begin, file_bytes, where));
  return entries;
}

std::string safetensors_header(const std::vector<SafetensorsEntry>& entries) {
  Json header = Json::object();
  std::int64_t offset = 0;
  for (const SafetensorsEntry& entry : entries) {
    std::string_view dtype;
    for (const auto& [text, known] : k_dtypes) {
      if (known == entry.dtype) dtype = text;
    }
    header[entry.name] = {
        {"dtype", dtype}, {"shape", entry.shape}, {"data_offsets", {offset, offset + entry.bytes}}};
    offset += entry.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace shardlab
