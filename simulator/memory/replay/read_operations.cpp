#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"
#include "simulator/memory/replay/allocator_recording.h"

namespace shardlab {
namespace {

using nlohmann::json;

class OperationReader {
 public:
  Status read(const json& operation) {
    ++recording.operations;
    const std::string place = fmt::format("operation {}", recording.operations);
    if (!operation.is_array() || operation.empty() || !operation[0].is_string())
      return bad_input(place, "no list that begins with a letter", "as in [\"m\", \"a\", 1048576, 0]");
    const std::string letter = operation[0].get<std::string>();
    if (Status read = arguments(letter, operation, place); !read) return read;
    call_.operation = recording.operations;
    recording.calls.push_back(call_);
    return {};
  }

  AllocatorRecording recording;

 private:
  Status arguments(const std::string& letter, const json& operation, const std::string& place) {
    call_ = {};
    if (letter == "m") return malloc(operation, place);
    if (letter == "e") return complete_events(operation, place);
    if (letter == "x") {
      call_.kind = RecordedKind::empty_cache;
      return count(operation, 1, 1, place);
    }
    if (letter == "r") {
      call_.kind = RecordedKind::record_stream;
      SHARDLAB_CHECK_OK(count(operation, 3, 3, place));
      SHARDLAB_TRY(call_.stream, stream(operation[2], place));
      return known(operation, place);
    }
    if (letter == "f" || letter == "d" || letter == "c") return release(letter, operation, place);
    return bad_input(place, fmt::format("unknown operation '{}'", letter), "known: m, f, d, c, r, e, x");
  }

  static Status count(const json& operation, std::size_t least, std::size_t most, const std::string& place) {
    if (operation.size() >= least && operation.size() <= most) return {};
    return bad_input(place, fmt::format("'{}' has {} values, not {}", operation[0].get<std::string>(),
                                        operation.size() - 1, least - 1));
  }
  static Result<std::int64_t> integer(const json& value, std::int64_t least, const std::string& place) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) ||
        value.get<std::int64_t>() < least)
      return bad_input(place, fmt::format("{:.40} where a whole number from {} on is expected",
                                          value.dump(-1, ' ', true, json::error_handler_t::replace), least));
    return value.get<std::int64_t>();
  }
  static Result<AllocatorStream> stream(const json& value, const std::string& place) {
    SHARDLAB_TRY(const std::int64_t number, integer(value, 0, place));
    return AllocatorStream{number};
  }
  static Result<std::string> name(const json& operation, const std::string& place) {
    if (operation.size() < 2 || !operation[1].is_string())
      return bad_input(place, "no name of an allocation behind the letter");
    return operation[1].get<std::string>();
  }

  Status malloc(const json& operation, const std::string& place) {
    SHARDLAB_CHECK_OK(count(operation, 3, 4, place));
    SHARDLAB_TRY(const std::string the_name, name(operation, place));
    SHARDLAB_TRY(const std::int64_t size, integer(operation[2], 1, place));
    call_.size = {size};
    if (operation.size() == 4) {
      SHARDLAB_TRY(call_.stream, stream(operation[3], place));
    }
    call_.block = recording.blocks++;
    if (!live_.try_emplace(the_name, call_.block).second)
      return bad_input(place, fmt::format("'{}' is allocated already", the_name));
    return {};
  }

  Status known(const json& operation, const std::string& place) {
    SHARDLAB_TRY(const std::string the_name, name(operation, place));
    const auto found = live_.find(the_name);
    if (found == live_.end()) return bad_input(place, fmt::format("'{}' is not allocated", the_name));
    call_.block = found->second;
    return {};
  }

  Status release(const std::string& letter, const json& operation, const std::string& place) {
    SHARDLAB_CHECK_OK(count(operation, 2, 2, place));
    SHARDLAB_TRY(const std::string the_name, name(operation, place));
    if (letter == "c") {
      const auto found = in_use_.find(the_name);
      if (found == in_use_.end()) return bad_input(place, fmt::format("'{}' was not freed by 'd'", the_name));
      call_.kind = RecordedKind::completed;
      call_.block = found->second;
      in_use_.erase(found);
      return {};
    }
    SHARDLAB_CHECK_OK(known(operation, place));
    call_.kind = letter == "f" ? RecordedKind::free : RecordedKind::free_in_use;
    live_.erase(the_name);
    if (letter == "d" && !in_use_.try_emplace(the_name, call_.block).second)
      return bad_input(place, fmt::format("an earlier '{}' is still in use", the_name),
                       "give it another name");
    return {};
  }

  Status complete_events(const json& operation, const std::string& place) {
    SHARDLAB_CHECK_OK(count(operation, 3, 3, place));
    call_.kind = RecordedKind::complete_events;
    SHARDLAB_TRY(call_.stream, stream(operation[1], place));
    SHARDLAB_TRY(call_.count, integer(operation[2], 1, place));
    return {};
  }

  RecordedCall call_;
  std::unordered_map<std::string, std::uint32_t> live_, in_use_;
};

Result<Bytes> bytes_of(const json& value, const char* what) {
  if (!value.is_number_integer() || value.get<std::int64_t>() <= 0)
    return bad_input(what, "no positive number of bytes");
  return Bytes{value.get<std::int64_t>()};
}

// Options as the text of PYTORCH_ALLOC_CONF, or by three short names: cap (the limit) and max_split in bytes,
// div.
Status read_options(const json& options, AllocatorRecording& recording) {
  if (options.is_string()) return recording.options = options.get<std::string>(), Status();
  if (!options.is_object()) return bad_input("options", "neither a text nor a map");
  const auto add = [&](const std::string& text) {
    recording.options += (recording.options.empty() ? "" : ",") + text;
  };
  for (const auto& [key, value] : options.items()) {
    SHARDLAB_TRY(const Bytes number, bytes_of(value, "options"));
    if (key == "cap") {
      recording.limit = number;
      recording.limit_source = LimitSource::stated;
    } else if (key == "max_split" && number.value % (1 << 20) == 0) {
      add(fmt::format("max_split_size_mb:{}", number.value >> 20));
    } else if (key == "div") {
      add(fmt::format("roundup_power2_divisions:{}", number.value));
    } else {
      return bad_input("options", fmt::format("unknown option '{}'", key),
                       "known: cap, max_split (whole MiB), div; or a text");
    }
  }
  return {};
}

}  // namespace

Result<AllocatorRecording> read_operations(std::string_view text) {
  if (is_json_too_large(text))
    return bad_input({}, fmt::format("has more than {} values", k_most_json_values),
                     "torch.cuda.memory._dump_snapshot() writes what takes less memory to read");
  if (is_json_too_deep(text)) return bad_input({}, "not valid JSON");
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return bad_input({}, "not valid JSON");
  if (!root.is_object() || !root.contains("ops") || !root["ops"].is_array())
    return bad_input({}, "no map with a list 'ops'", "{\"ops\": [[\"m\", \"a\", 1048576], [\"f\", \"a\"]]}");
  OperationReader reader;
  if (root.contains("options")) SHARDLAB_CHECK_OK(read_options(root["options"], reader.recording));
  if (root.contains("limit")) {
    SHARDLAB_TRY(reader.recording.limit, bytes_of(root["limit"], "limit"));
    reader.recording.limit_source = LimitSource::stated;
  }
  for (const json& operation : root["ops"]) SHARDLAB_CHECK_OK(reader.read(operation));
  return std::move(reader.recording);
}

}  // namespace shardlab
